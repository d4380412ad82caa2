// SPDX-License-Identifier: Apache-2.0
public import Glibc

/// A value that can only be reached while a `pthread_mutex_t` is held.
///
/// A POSIX mutex, because ThreadSanitizer understands it: `Synchronization.Mutex` is a futex on Linux and causes false
/// reports.
package typealias Locked<State> = _Locked<State>

/// The type behind ``Locked``; for Uplink's own use only.
///
/// It is public because the compiler does not inline or specialise `package` declarations in other modules, and
/// whatever is done under a lock takes less time than an unspecialised call.
@_documentation(visibility: internal)
public struct _Locked<State>: @unchecked Sendable {  // the state is read and written only with the mutex held
    @usableFromInline let storage: LockedStorage<State>

    /// Makes the value.
    @inlinable
    public init(_ state: sending State) { storage = LockedStorage.make(state) }

    /// Runs `body` with the lock held. `body` must not resume a continuation, call user code or lock again.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (mutex, state) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            withExtendedLifetime(storage) {}  // the pointers do not keep it alive
        }
        return try body(&state.pointee)
    }
}

/// The mutex and the state in one object. A `ManagedBuffer`, because a mutex must stay at its address.
@usableFromInline
final class LockedStorage<State>: ManagedBuffer<pthread_mutex_t, State> {
    @inlinable
    static func make(_ value: sending State) -> LockedStorage {
        let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in pthread_mutex_t() }, to: LockedStorage.self)
        let (mutex, state) = storage.withUnsafeMutablePointers { ($0, $1) }
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init: \(status)")
        state.initialize(to: value)  // outside the closure, which would copy the value
        return storage
    }

    @inlinable
    deinit {
        withUnsafeMutablePointers { mutex, state in
            state.deinitialize(count: 1)
            pthread_mutex_destroy(mutex)
        }
    }
}
