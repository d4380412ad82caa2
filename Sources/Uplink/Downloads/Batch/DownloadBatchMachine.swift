// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// Which of a batch's downloads runs, and how all together go: pure.
struct DownloadBatchMachine {
    /// Where an item stands.
    enum State {
        /// It waits for its turn.
        case queued
        /// It is under way.
        case running(DownloadProgress)
        /// This has come of it.
        case ended(DownloadLife.Outcome)
    }

    private(set) var items: [State]
    /// Whether nothing may start yet, because it is not known which items are to be refused.
    private var isChecking = true
    private var queues: HostQueues
    private var left: Int

    /// - Parameters:
    ///   - hosts: Each item's server.
    init(hosts: [String], limits: DownloadBatchLimits) {
        items = Array(repeating: .queued, count: hosts.count)
        left = hosts.count
        queues = HostQueues(
            maximumRunning: max(1, limits.maximumRunning), maximumRunningPerHost: max(1, limits.maximumRunningPerHost),
            maximumWaiting: .max)
        for (item, host) in hosts.enumerated() { _ = queues.add(UInt64(item), host: host) }
    }

    /// Whether all have ended.
    var isOver: Bool { left == 0 }

    /// What each has ended with; nil while not all have.
    var outcomes: [DownloadLife.Outcome]? {
        guard isOver else { return nil }
        return items.compactMap { if case .ended(let outcome) = $0 { outcome } else { nil } }
    }

    /// It is known which items are to be refused, and why.
    mutating func checked(refusing refused: [Int: DownloadError]) {
        isChecking = false
        for (item, error) in refused { ended(item, .failure(error)) }
    }

    /// Whose turn it is now.
    mutating func start() -> [Int] {
        guard !isChecking else { return [] }
        var starting: [Int] = []
        while let id = queues.next() {
            let item = Int(id)
            guard case .queued = items[item] else { continue }
            items[item] = .running(DownloadProgress())
            starting.append(item)
        }
        return starting
    }

    mutating func progressed(_ item: Int, _ progress: DownloadProgress) {
        if case .running = items[item] { items[item] = .running(progress) }
    }

    /// An item has ended, also one that was never started.
    mutating func ended(_ item: Int, _ outcome: DownloadLife.Outcome) {
        if case .ended = items[item] { return }
        items[item] = .ended(outcome)
        left -= 1
        queues.remove(UInt64(item))
    }

    /// All together.
    var progress: DownloadBatchProgress {
        var progress = DownloadBatchProgress()
        var total: Int64? = 0
        for state in items {
            switch state {
            case .queued:
                progress.items.append(.queued)
                total = nil
            case .running(let item):
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

    /// Nil where it cannot be told.
    private static func sum(_ some: Int64, _ more: Int64) -> Int64? {
        let (sum, isTooLarge) = some.addingReportingOverflow(more)
        return isTooLarge ? nil : sum
    }
}
