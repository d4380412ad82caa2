// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import UplinkCore
import UplinkHTTP

/// A download that has been started: its outcome, its deadline and its progress. Every method may be called from any
/// thread.
final class DownloadCore: Sendable {
    private struct State {
        var life = DownloadLife()
        var story: DownloadStory
        var waiters: [CheckedContinuation<Void, Never>] = []
        var work: Task<Void, Never>?
        var alarms: [Task<Void, Never>] = []
        var posts: UInt64 = 0
        /// How the last attempt failed; nil while one is going well.
        var failure: (error: (any Error)?, status: Int?) = (nil, nil)

        /// The progress to publish now, numbered while the lock is held, so that nothing older overtakes it on its way
        /// to the board.
        mutating func post(at now: Duration) -> Post {
            posts += 1
            return Post(progress: story.post(at: now), number: posts)
        }
    }

    private struct Post {
        let progress: DownloadProgress
        let number: UInt64
    }

    private let url: String
    private let target: FilePath
    /// Whether it waits for the internet although nobody may have asked for that.
    private let hasDefaultRequirement: Bool
    let clock: ElapsedClock
    let deadline: Duration?
    let board: UpdateBoard<DownloadProgress>
    private let state: Locked<State>
    /// Where the work is done: as the caller prefers.
    private let executor = preferredExecutor

    /// How long cancelled work may take to clean up before the outcome is published without it: a disk that does not
    /// answer cannot be cancelled.
    static let grace = Duration.seconds(1)

    /// - Parameters:
    ///   - url: For errors, as the target.
    ///   - limit: Counts from now.
    init(_ url: String, to target: FilePath, options: DownloadOptions, within limit: Duration) {
        (self.url, self.target, hasDefaultRequirement) = (url, target, options.requirement?.isDefault ?? false)
        clock = ElapsedClock(options.clock)
        let start = clock.now()
        // More than 292 years are no limit.
        deadline = limit < .nanoseconds(Int64.max) ? start + max(.zero, limit) : nil
        let story = DownloadStory(deadline: deadline)
        state = Locked(State(story: story))
        board = UpdateBoard(story.snapshot(at: start))
    }

    /// The time left until the deadline; nil without one.
    var remaining: Duration? { deadline.map { max(.zero, $0 - clock.now()) } }

    /// Why the download is ending early, if it is.
    var cause: DownloadLife.Cause? { state.withLock { $0.life.cause } }

    // MARK: Beginning and end

    /// Starts the work, and its deadline.
    func start(_ work: @escaping @Sendable () async throws -> DownloadedFile) {
        let task = Task(name: "download", executorPreference: executor) {
            let outcome: DownloadLife.Outcome
            do {
                outcome = .success(try await work())
            } catch {
                outcome = .failure(self.named(error))
            }
            self.settle { $0.ended(outcome) }
        }
        let alarm = deadline.map { deadline in
            Task(name: "download's deadline", executorPreference: executor) {
                guard (try? await self.clock.sleep(until: deadline)) != nil else { return }
                self.end(.deadline)
            }
        }
        let isOver = state.withLock { state in
            // The work may have ended by now, or have been cancelled.
            if state.life.outcome != nil { return true }
            state.work = task
            if let alarm { state.alarms.append(alarm) }
            return false
        }
        if isOver { alarm?.cancel() }
        if isOver || cause != nil { task.cancel() }
    }

    /// Ends the download early; does nothing when it is too late for that.
    func end(_ cause: DownloadLife.Cause) {
        let (ends, work) = state.withLock { ($0.life.end(cause), $0.work) }
        guard ends else { return }
        work?.cancel()
        let alarm = Task(name: "download's grace", executorPreference: executor) {
            guard (try? await self.clock.sleep(for: Self.grace)) != nil else { return }
            let error = self.named(self.error(for: cause, after: nil))
            self.settle { $0.abandoned(error) }
        }
        let isOver = state.withLock { state in
            if state.life.outcome == nil { state.alarms.append(alarm) }
            return state.life.outcome != nil
        }
        if isOver { alarm.cancel() }
    }

    /// Whether the file may be given its name now; once this returns true, the download cannot be cancelled any more.
    func mayName() -> Bool { state.withLock { $0.life.name() } }

    /// The error that a download throws when it ends early.
    func error(for cause: DownloadLife.Cause, after error: (any Error)?) -> any Error {
        guard cause == .deadline else { return CancellationError() }
        let progress = currentProgress
        let bytes = "\(progress.receivedBytes)\(progress.totalBytes.map { " of \($0)" } ?? "") bytes"
        let trouble = progress.trouble.map { "; the last trouble: \($0)" } ?? ""
        let failure = state.withLock { $0.failure }
        let mayNotNeedIt = hasDefaultRequirement && progress.phase == .waitingForNetwork
        let advice = mayNotNeedIt ? "; if the server needs no internet, set `requirement`" : ""
        var late = DownloadError(
            .deadlineExceeded,
            message:
                "the download was not whole in time: \(bytes)\(trouble); allow more time, or download again to go on"
                + advice,
            underlyingError: error.flatMap { Self.isCancellation($0) ? nil : $0 } ?? failure.error)
        late.status = failure.status
        return late
    }

    /// The error, which says what was to be downloaded.
    private func named(_ error: any Error) -> any Error {
        (error as? DownloadError)?.of(url, to: target) ?? error
    }

    /// Whether an error means only that the work was cancelled.
    private static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? NetworkOperationError)?.code == .cancelled
    }

    /// Keeps how an attempt ended, for the error at the deadline.
    func remember(_ error: (any Error)?, status: Int?) { state.withLock { $0.failure = (error, status) } }

    private func settle(_ change: (inout DownloadLife) -> Bool) {
        let now = clock.now()
        let ending = state.withLock { state -> Ending? in
            guard change(&state.life), let outcome = state.life.outcome else { return nil }
            if case .success = outcome {
                state.story.enter(.finished, at: now)
            } else {
                state.story.enter(.failed, at: now)
            }
            defer { (state.waiters, state.alarms, state.work) = ([], [], nil) }
            return Ending(waiters: state.waiters, alarms: state.alarms, post: state.post(at: now))
        }
        guard let ending else { return }
        for alarm in ending.alarms { alarm.cancel() }
        board.post(ending.post.progress, number: ending.post.number, finishes: true)
        for waiter in ending.waiters { waiter.resume() }
    }

    /// What to do outside the lock when there is an outcome.
    private struct Ending {
        let waiters: [CheckedContinuation<Void, Never>]
        let alarms: [Task<Void, Never>]
        let post: Post
    }

    /// The outcome, as soon as there is one.
    func outcome() async -> DownloadLife.Outcome {
        while true {
            if let outcome = state.withLock({ $0.life.outcome }) { return outcome }
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.life.outcome == nil { state.waiters.append(continuation) }
                    return state.life.outcome != nil
                }
                if isOver { continuation.resume() }
            }
        }
    }

    // MARK: Progress

    /// The progress at this moment.
    var currentProgress: DownloadProgress {
        let now = clock.now()
        return state.withLock { $0.story.snapshot(at: now) }
    }

    // The story ends with the outcome: abandoned work that goes on does not change it any more.

    /// Changes the story, which is published with the next change that is worth it.
    func note(_ change: (inout DownloadStory) -> Void) {
        state.withLock { state in
            if state.life.outcome == nil { change(&state.story) }
        }
    }

    /// Changes the story and publishes it.
    func tell(_ change: (inout DownloadStory, _ now: Duration) -> Void) {
        tell(if: { story, now in
            change(&story, now)
            return true
        })
    }

    /// Changes the story, and publishes it if the change is worth it.
    func tell(if change: (inout DownloadStory, _ now: Duration) -> Bool) {
        let now = clock.now()
        let post = state.withLock { state in
            state.life.outcome == nil && change(&state.story, now) ? state.post(at: now) : nil
        }
        if let post { board.post(post.progress, number: post.number) }
    }
}
