// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Holds up a task until something has happened, which may be before it waits. For one task.
final class Signal: Sendable {
    private enum State {
        /// Nothing has happened, nobody waits.
        case clear
        /// It has happened, and nobody has waited for it yet.
        case raised
        /// It has happened for good: nobody waits again.
        case ended
        /// The task waits.
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.clear)

    /// It has happened.
    func raise() { become { $0 = .raised } }

    /// It has happened, and nobody is to wait for it again: the call is over.
    func end() { become { $0 = .ended } }

    /// Forgets what has happened before.
    func clear() {
        state.withLock { state in
            if case .raised = state { state = .clear }
        }
    }

    /// Waits until it has happened, and forgets it.
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
