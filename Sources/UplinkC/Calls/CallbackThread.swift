// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// The thread on which a context's callbacks run. All signals are blocked on it.
final class CallbackThread: @unchecked Sendable {  // written before it is shared; joined once
    private var thread = pthread_t()

    /// Starts the thread; nil when the system has no thread left.
    init?(for queue: CallQueue) {
        let status = SignalMask.spawn(named: "uplink-callback", into: &thread) { queue.runUntilFinished() }
        guard status == 0 else { return nil }
    }

    /// Waits for the thread to end, which it does with its queue.
    func join() { pthread_join(thread, nil) }
}
