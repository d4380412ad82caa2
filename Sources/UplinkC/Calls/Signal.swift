// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Suspends one task until something has happened, which may be before the task waits.
final class Signal: Sendable {
    private enum State {
        /// It has not happened, and the task is not waiting.
        case clear
        /// It has happened, but the task has not waited for it yet.
        case raised
        /// It has happened for good: no one waits again.
        case ended
        /// The task is waiting.
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.clear)

    /// Records that it has happened.
    func raise() { become { $0 = .raised } }

    /// Records that it has happened, and that no one is to wait for it again because the call is over.
    func end() { become { $0 = .ended } }

    /// Forgets that it has happened before.
    func clear() {
        state.withLock { state in
            if case .raised = state { state = .clear }
        }
    }

    /// Waits until it has happened, and forgets that it has.
    func wait() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                switch state {
                case .clear:
                    state = .awaited(continuation)
                    return false
                case .raised:
                    state = .clear
                    return true
                case .ended, .awaited: return true
                }
            }
            if mayGoOn { continuation.resume() }
        }
    }

    private func become(_ next: (inout State) -> Void) {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            switch state {
            case .awaited(let continuation):
                next(&state)
                if case .raised = state { state = .clear }
                return continuation
            case .clear, .raised: next(&state)
            case .ended: break
            }
            return nil
        }
        continuation?.resume()
    }
}
