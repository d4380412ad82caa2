// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// Decides which of a batch's downloads run, and sums up their progress: pure.
struct DownloadBatchMachine {
    /// The state of an item.
    enum State {
        /// It waits for its turn.
        case queued
        /// It is under way, and has a place.
        case running(DownloadProgress)
        /// It rests between two attempts or waits for the network, and has lent its place.
        case pausing(DownloadProgress)
        /// It could go on, and waits for a place.
        case returning(DownloadProgress)
        /// It has ended, with this outcome.
        case ended(DownloadLife.Outcome)
    }

    private(set) var items: [State]
    /// Whether nothing may start yet, because it is not known which items are to be refused.
    private(set) var isChecking = true
    /// The items that are under way, with and without a place.
    private var queues: HostQueues
    private var left: Int
    private let places: Int
    /// How many items have a place.
    private var running = 0
    /// How many are under way and have lent theirs.
    private var away = 0 { didSet { queues.maximumRunning = places + away } }
    /// Those of them that wait for one, in order of arrival.
    private var returning: [Int] = []

    /// How many items may be away for each place; they have files open.
    static let awayPerPlace = 8

    /// - Parameters:
    ///   - hosts: Each item's server.
    init(hosts: [String], limits: DownloadBatchLimits) {
        items = Array(repeating: .queued, count: hosts.count)
        left = hosts.count
        places = min(max(1, limits.maximumRunning), 1 << 20)
        queues = HostQueues(
            maximumRunning: places, maximumRunningPerHost: max(1, limits.maximumRunningPerHost),
            maximumWaiting: .max)
        for (item, host) in hosts.enumerated() { _ = queues.add(UInt64(item), host: host) }
    }

    /// Whether all items have ended.
    var isOver: Bool { left == 0 }

    /// How each item ended; nil until all have.
    var outcomes: [DownloadLife.Outcome]? {
        guard isOver else { return nil }
        return items.compactMap { if case .ended(let outcome) = $0 { outcome } else { nil } }
    }

    /// Records which items are to be refused, and why.
    mutating func checked(refusing refused: [Int: DownloadError]) {
        isChecking = false
        for (item, error) in refused { ended(item, .failure(error)) }
    }

    /// The items whose turn to start it is. Those that wait to go on come first: ``goOn()``.
    mutating func start() -> [Int] {
        guard !isChecking else { return [] }
        var starting: [Int] = []
        while let id = queues.next() {
            let item = Int(id)
            guard case .queued = items[item] else { continue }
            items[item] = .running(DownloadProgress())
            running += 1
            starting.append(item)
        }
        return starting
    }

    /// The items that were away and have a place again.
    mutating func goOn() -> [Int] {
        let goingOn = Array(returning.prefix(max(0, places - running)))
        returning.removeFirst(goingOn.count)
        for item in goingOn {
            guard case .returning(let progress) = items[item] else { continue }
            items[item] = .running(progress)
            away -= 1
            running += 1
        }
        return goingOn
    }

    /// Records that an item needs no place for now. It keeps its place if very many do, unless one of them waits for it.
    mutating func pauses(_ item: Int) {
        switch items[item] {
        case .running(let progress) where away < places * Self.awayPerPlace || !returning.isEmpty:
            items[item] = .pausing(progress)
            running -= 1
            away += 1
        case .returning(let progress):
            items[item] = .pausing(progress)
            returning.removeAll { $0 == item }
        case .queued, .running, .pausing, .ended: break
        }
    }

    /// Records that an item could go on. Returns false if it has a place.
    mutating func returns(_ item: Int) -> Bool {
        switch items[item] {
        case .pausing(let progress):
            items[item] = .returning(progress)
            returning.append(item)
            return true
        case .returning: return true
        case .queued, .running, .ended: return false
        }
    }

    mutating func progressed(_ item: Int, _ progress: DownloadProgress) {
        switch items[item] {
        case .running: items[item] = .running(progress)
        case .pausing: items[item] = .pausing(progress)
        case .returning: items[item] = .returning(progress)
        case .queued, .ended: break
        }
    }

    /// Ends an item whose turn has not come; does nothing if it has started.
    mutating func dropped(_ item: Int, _ error: any Error) {
        if case .queued = items[item] { ended(item, .failure(error)) }
    }

    /// Records that an item has ended, even if it was never started.
    mutating func ended(_ item: Int, _ outcome: DownloadLife.Outcome) {
        switch items[item] {
        case .queued: break
        case .running: running -= 1
        case .pausing: away -= 1
        case .returning:
            away -= 1
            returning.removeAll { $0 == item }
        case .ended: return
        }
        items[item] = .ended(outcome)
        left -= 1
        queues.remove(UInt64(item))
    }

    /// The progress of all items together.
    var progress: DownloadBatchProgress {
        var progress = DownloadBatchProgress()
        var total: Int64? = 0
        for state in items {
            switch state {
            case .queued:
                progress.items.append(.queued)
                total = nil
            case .running(let item), .pausing(let item), .returning(let item):
                progress.items.append(.running(item))
                progress.receivedBytes = Self.sum(progress.receivedBytes, item.receivedBytes) ?? .max
                progress.bytesPerSecond += item.bytesPerSecond
                total = total.flatMap { sum in item.totalBytes.flatMap { Self.sum(sum, $0) } }
            case .ended(.success(let file)):
                progress.items.append(.finished(bytes: file.byteCount))
                progress.receivedBytes = Self.sum(progress.receivedBytes, file.byteCount) ?? .max
                total = total.flatMap { Self.sum($0, file.byteCount) }
            case .ended(.failure(let error)):
                progress.items.append(.failed(error is CancellationError ? "cancelled" : "\(error)"))
            }
        }
        progress.totalBytes = total
        progress.timeLeft = timeLeft(
            of: total, received: progress.receivedBytes, bytesPerSecond: progress.bytesPerSecond)
        return progress
    }

    /// The sum; nil if it is too large for the type.
    private static func sum(_ some: Int64, _ more: Int64) -> Int64? {
        let (sum, isTooLarge) = some.addingReportingOverflow(more)
        return isTooLarge ? nil : sum
    }
}
