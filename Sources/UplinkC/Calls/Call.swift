// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What a program has begun and not yet heard the end of.
protocol Call: Sendable {
    /// Whether the program has its id.
    var isNamed: Bool { get }

    /// The program wants it to end. From any thread, at any time, more than once.
    func cancel()

    /// The context is being destroyed; the call has to end though the program does nothing more.
    func stop()

    /// The operation that it runs is complete, with this number; false when it runs none.
    func complete(_ result: CInt) -> Bool

    /// Lets a paused body go on; false when it has no body that could be paused.
    func resume() -> Bool
}

extension Call {
    var isNamed: Bool { true }
    func stop() { cancel() }
    func complete(_ result: CInt) -> Bool { false }
    func resume() -> Bool { false }
}

/// The task of a call, which may be cancelled before there is one.
final class CallTask: Sendable {
    private enum State {
        /// The call has no task yet.
        case none
        /// The task; what it runs ends by itself.
        case running(Task<Void, Never>)
        /// Cancelled, with or without a task.
        case cancelled
    }

    private let state = Locked(State.none)

    /// Runs the work of a call on the loop's thread.
    func start(on context: Context, _ work: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: context.loop) { await work() }
        let isLate = state.withLock { state in
            switch state {
            case .none, .running:
                state = .running(task)
                return false
            case .cancelled: return true
            }
        }
        if isLate { task.cancel() }
    }

    func cancel() {
        let task: Task<Void, Never>? = state.withLock { state in
            defer { state = .cancelled }
            switch state {
            case .running(let task): return task
            case .none, .cancelled: return nil
            }
        }
        task?.cancel()
    }
}
