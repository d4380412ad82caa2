// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Something that a program has begun, and whose end it has not been told yet.
protocol Call: Sendable {
    /// Whether the program has its id.
    var isNamed: Bool { get }

    /// Ends the call because the program wants that. May be called from any thread, at any time, more than once.
    func cancel()

    /// Ends the call because the context is being destroyed, even if the program does nothing more.
    func stop()

    /// Records that the operation that it runs is complete, with this number; false when it runs none.
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
        /// It has a task, whose work ends by itself.
        case running(Task<Void, Never>)
        /// It was cancelled, with or without a task.
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
