// SPDX-License-Identifier: Apache-2.0
public import Glibc

/// A value that is only reachable while a `pthread_mutex_t` is held.
///
/// A POSIX mutex, because ThreadSanitizer understands it: `Synchronization.Mutex` is a futex on Linux and gives false
/// reports there.
package typealias Locked<State> = _Locked<State>

/// What ``Locked`` stands for; Uplink's own, of no use to others.
///
/// Public, because the compiler carries no code of a `package` declaration into other modules, and nothing that is done
/// with a lock is as long as an unspecialised call.
@_documentation(visibility: internal)
public final class _Locked<State>: @unchecked Sendable {  // `state` is read and written with `mutex` held, only
    @exclusivity(unchecked)  // the mutex excludes more
    @usableFromInline var state: State
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes the value.
    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init: \(status)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. `body` must not resume a continuation, call user code or lock again.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
