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
public struct _Locked<State>: @unchecked Sendable {  // the state is read and written with the mutex held, only
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
            withExtendedLifetime(storage) {}  // the pointers do not keep it
        }
        return try body(&state.pointee)
    }
}

/// Mutex and state in one object: a `ManagedBuffer`, because a mutex must stay at its address.
@usableFromInline
final class LockedStorage<State>: ManagedBuffer<pthread_mutex_t, State> {
    @inlinable
    static func make(_ value: sending State) -> LockedStorage {
        let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in pthread_mutex_t() }, to: LockedStorage.self)
        let (mutex, state) = storage.withUnsafeMutablePointers { ($0, $1) }
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init: \(status)")
        state.initialize(to: value)  // outside of the closure, which would copy the value
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
