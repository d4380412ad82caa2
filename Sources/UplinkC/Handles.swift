// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import UplinkCore

// The one place where C's pointers become objects, and objects become C's pointers.

/// The contexts that exist. C does not hold their addresses but numbers that are never reused, so that a context used
/// after its end is reported as an error instead of being followed as a pointer.
enum Handles {
    private struct State {
        var contexts: [UInt: Context] = [:]
        var last: UInt = 0
    }

    private static let state = Locked(State())
    /// The process that the contexts belong to, from the first time that one is created or used. A child that it forks
    /// has their memory but none of their threads, and perhaps a lock that one of these held.
    private static let forks = ForkCount.current

    /// Whether there may be contexts in this process.
    static var areOfThisProcess: Bool { forks == ForkCount.current }

    /// Returns a number that no context has or had. Its low bits are zero, like an address's.
    static func reserve() -> UInt {
        state.withLock { state in
            state.last += 16
            return state.last
        }
    }

    static func insert(_ context: Context) { state.withLock { $0.contexts[context.handle] = context } }

    static func remove(_ context: Context) { state.withLock { _ = $0.contexts.removeValue(forKey: context.handle) } }

    /// The context for a handle from C, if there is one.
    static func context(_ handle: OpaquePointer?) -> Context? {
        guard areOfThisProcess else { return nil }
        let number = UInt(bitPattern: handle)
        return state.withLock { $0.contexts[number] }
    }
}

extension Context {
    /// The pointer that C gets for this context.
    var pointer: OpaquePointer? { OpaquePointer(bitPattern: handle) }
}

extension PathBox {
    /// The pointer that C gets when it becomes an owner.
    func retained() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    /// What C gets for the time of a callback, in which the box is alive.
    func withPointer(_ body: (OpaquePointer) -> Void) {
        withExtendedLifetime(self) { body(OpaquePointer(Unmanaged.passUnretained(self).toOpaque())) }
    }

    /// The box of a path that C has.
    static func of(_ path: OpaquePointer?) -> PathBox? {
        path.map { Unmanaged<PathBox>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    static func release(_ path: OpaquePointer?) {
        if let path { Unmanaged<PathBox>.fromOpaque(UnsafeRawPointer(path)).release() }
    }
}

extension ResponseBox {
    /// What C gets for the time of a callback, in which the box is alive.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(OpaquePointer(Unmanaged.passUnretained(self).toOpaque())) }
    }

    /// The box of a response that C has.
    static func of(_ response: OpaquePointer?) -> ResponseBox? {
        response.map { Unmanaged<ResponseBox>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }
}

extension RequestBox {
    /// The pointer that C gets as the only owner.
    func retained() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    /// The box of a request that C has.
    static func of(_ request: OpaquePointer?) -> RequestBox? {
        request.map { Unmanaged<RequestBox>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    static func release(_ request: OpaquePointer?) {
        if let request { Unmanaged<RequestBox>.fromOpaque(UnsafeRawPointer(request)).release() }
    }
}

/// The pointer that a C program gets back in its callbacks; never dereferenced.
struct UserPointer: @unchecked Sendable {  // the program's own: it is handed through, and nothing else
    let pointer: UnsafeMutableRawPointer?

    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
