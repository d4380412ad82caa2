// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The thread on which a context's callbacks run. All signals are blocked on it.
final class CallbackThread: @unchecked Sendable {  // written before it is shared; joined once
    private var thread = pthread_t()

    /// Starts the thread; nil when the system has no thread left.
    init?(for queue: CallQueue) {
        let start = Unmanaged.passRetained(queue)
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                uplink_name_thread("uplink-callback")
                Unmanaged<CallQueue>.fromOpaque(argument).takeRetainedValue().runUntilFinished()
                return nil
            }, start.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard status == 0 else {
            start.release()
            return nil
        }
    }

    /// Waits for the thread to end, which it does with its queue.
    func join() { pthread_join(thread, nil) }
}
