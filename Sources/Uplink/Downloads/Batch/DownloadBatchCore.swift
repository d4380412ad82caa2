// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// Many downloads that were started together. Every method may be called from any thread.
final class DownloadBatchCore: Sendable {
    private struct State {
        var machine: DownloadBatchMachine
        var downloads: [Int: Download] = [:]
        /// The items to cancel; one may have been added between its turn and its start.
        var cancelled: Set<Int> = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The items that wait for a place again.
        var returning: [Int: CheckedContinuation<Void, Never>] = [:]
        var posts: UInt64 = 0
        /// Waits for the deadline while any item may still be waiting for its turn.
        var alarm: Task<Void, Never>?
    }

    let board: UpdateBoard<DownloadBatchProgress>
    private let client: HTTPClient
    private let items: [DownloadItem]
    /// The items' clocks, which all began when the batch did.
    private let clocks: [ElapsedClock]
    private let limit: Duration
    private let look: @Sendable ([FilePath]) -> [Int: Int]
    private let state: Locked<State>
    /// Where the work is done: as the caller of the batch prefers.
    private let executor = preferredExecutor

    /// - Parameter look: Finds the items whose target an earlier one has; blocks.
    init(
        _ client: HTTPClient, _ items: [DownloadItem], within limit: Duration, limits: DownloadBatchLimits,
        look: @escaping @Sendable ([FilePath]) -> [Int: Int] = { TargetIdentity.repeated(in: $0) }
    ) {
        (self.client, self.items, self.limit, self.look) = (client, items, max(.zero, limit), look)
        clocks = items.map { ElapsedClock($0.options.clock) }
        let state = Locked(State(machine: DownloadBatchMachine(hosts: items.map(\.host), limits: limits)))
        self.state = state
        board = UpdateBoard(state.withLock(\.machine).progress)
    }

    /// Refuses what cannot be downloaded, and starts what may run.
    func start() {
        let alarm = Task(name: "downloads' deadline", executorPreference: executor) { [self] in await refuseLate() }
        state.withLock { $0.alarm = alarm }
        Task(name: "downloads", executorPreference: executor) { [self] in
            let refused = await refused()
            change { $0.checked(refusing: refused) }
        }
    }

    /// Refuses the items that have not started, one after the other, when their time has run out: a disk that does not
    /// answer cannot be cancelled, and holds up those whose turn it is. Once started, they have deadlines of their own.
    private func refuseLate() async {
        guard limit < .nanoseconds(Int64.max) else { return }  // as ``DownloadCore`` has it
        let end = limit + DownloadCore.grace
        for (item, clock) in clocks.enumerated() {
            guard (try? await clock.sleep(until: end)) != nil else { return }
            change { $0.dropped(item, items[item].named($0.isChecking ? Self.unseen : Self.late)) }
        }
    }

    private static let unseen = DownloadError(
        .deadlineExceeded,
        message: "the targets' directories could not be looked at in time; a disk or a network's file system does not "
            + "answer, so see to it, then download again")

    private static let late = DownloadError(
        .deadlineExceeded,
        message: "its turn did not come before the deadline of all; allow more time, or download again to go on")

    /// The items whose target an earlier one has; all, if that cannot be determined.
    private func refused() async -> [Int: DownloadError] {
        let targets = items.map(\.target)
        do {
            return try await EventLoop.shared.offLoop { [look] in look(targets) }.reduce(into: [:]) {
                let item = items[$1.key]
                let busy = DownloadError(
                    .targetBusy,
                    message: "`\(item.target)` is the target of `\(items[$1.value].redactedURL)` too; choose another "
                        + "name")
                $0[$1.key] = item.named(busy)
            }
        } catch {
            let failure = DownloadError(
                .fileFailed, message: "the targets cannot be looked at: \(error)", underlyingError: error)
            return Dictionary(uniqueKeysWithValues: items.indices.map { ($0, items[$0].named(failure)) })
        }
    }

    /// Cancels one item, which may not have started yet.
    func cancel(_ item: Int) { cancel([item]) }

    func cancelAll() { cancel(Array(items.indices)) }

    private func cancel(_ chosen: [Int]) {
        let chosen = chosen.filter(items.indices.contains)
        let running = state.withLock { state in
            state.cancelled.formUnion(chosen)
            return chosen.compactMap { state.downloads[$0] }
        }
        change { machine in
            for item in chosen {
                machine.dropped(item, CancellationError())
            }
        }
        for download in running { download.cancel() }
    }

    /// How each item ended, as soon as all have.
    func results() async -> [DownloadLife.Outcome] {
        while true {
            if let outcomes = state.withLock({ $0.machine.outcomes }) { return outcomes }
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.machine.isOver { state.waiters.append(continuation) }
                    return state.machine.isOver
                }
                if isOver { continuation.resume() }
            }
        }
    }

    /// The progress of all at this moment.
    var currentProgress: DownloadBatchProgress {
        let newest = state.withLock { $0.downloads }.mapValues(\.currentProgress)
        return state.withLock { state in
            var machine = state.machine
            for (item, progress) in newest { machine.progressed(item, progress) }
            return machine.progress
        }
    }

    /// Changes the machine, publishes the change, and lets the items whose turn has come start or go on.
    private func change(_ change: (inout DownloadBatchMachine) -> Void) {
        let news = state.withLock { state in
            change(&state.machine)
            let goingOn = state.machine.goOn().compactMap { state.returning.removeValue(forKey: $0) }
            let starting = state.machine.start()
            state.posts += 1
            defer { if state.machine.isOver { (state.waiters, state.alarm) = ([], nil) } }
            return News(
                starting: starting, number: state.posts, isOver: state.machine.isOver,
                waiters: goingOn + (state.machine.isOver ? state.waiters : []),
                alarm: state.machine.isOver ? state.alarm : nil)
        }
        news.alarm?.cancel()
        // It is as large as the batch, and so made only for those that read it.
        let state = state
        board.post(state.withLock(\.machine).progress, number: news.number, finishes: news.isOver)
        for waiter in news.waiters { waiter.resume() }
        for item in news.starting { run(item) }
    }

    /// The place that an item has while it runs, and lends while it pauses or waits for the network.
    private func place(of item: Int) -> DownloadPlace {
        DownloadPlace {
            self.change { $0.pauses(item) }
        } takeBack: {
            await withTaskCancellationHandler {
                await withCheckedContinuation { self.returns(item, $0) }
            } onCancel: {
                self.state.withLock { $0.returning.removeValue(forKey: item) }?.resume()
            }
        }
    }

    private func returns(_ item: Int, _ continuation: CheckedContinuation<Void, Never>) {
        let hasPlace = state.withLock { state in
            // The cancellation handler may have run by now, and found no one waiting.
            guard state.machine.returns(item), !Task.isCancelled else { return true }
            state.returning[item] = continuation
            return false
        }
        if hasPlace { continuation.resume() } else { change { _ in } }
    }

    /// What to do outside the lock after a change.
    private struct News {
        let starting: [Int]
        let number: UInt64
        let isOver: Bool
        let waiters: [CheckedContinuation<Void, Never>]
        /// Of a batch that is over.
        let alarm: Task<Void, Never>?
    }

    private func run(_ number: Int) {
        let item = items[number]
        let download = client.startDownload(
            item.url, to: item.target, within: limit - clocks[number].now(), headers: item.headers,
            options: item.options, place: place(of: number))
        let isCancelled = state.withLock { state in
            state.downloads[number] = download
            return state.cancelled.contains(number)
        }
        if isCancelled { download.cancel() }
        Task(name: "download \(number)", executorPreference: executor) { [self] in
            for await progress in download.progress { change { $0.progressed(number, progress) } }
            let outcome = await download.core.outcome()
            state.withLock { _ = $0.downloads.removeValue(forKey: number) }
            change { $0.ended(number, outcome) }
        }
    }
}

extension DownloadItem {
    /// Scheme, name and port; empty if this is no URL, which the download itself will report.
    fileprivate var host: String {
        guard let request = try? HTTPRequest(parsing: url) else { return "" }
        return "\(request.scheme ?? "")://\(request.authority ?? "")"
    }

    /// The error, which says what was to be downloaded.
    fileprivate func named(_ error: DownloadError) -> DownloadError {
        error.of(redactedURL, to: target)
    }

    fileprivate var redactedURL: String { (try? HTTPRequest(parsing: url))?.redactedURL ?? "" }
}
