// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import UplinkCore

// The one place where what C holds becomes an object, and the other way round.

/// The contexts that exist. C does not hold their addresses but numbers that are never used again, so that one which is
/// used after its end is told and not followed.
enum Handles {
    private struct State {
        var contexts: [UInt: Context] = [:]
        var last: UInt = 0
    }

    private static let state = Locked(State())
    /// The process that the contexts belong to, from the first time on that one is made or named. A child that it forks has
    /// their memory and none of their threads; and perhaps a lock that one of these held.
    private static let forks = ForkCount.current

    /// Whether there may be contexts in this process.
    static var areOfThisProcess: Bool { forks == ForkCount.current }

    /// A number that no context has or had. Its low bits are zero, as an address's would be.
    static func reserve() -> UInt {
        state.withLock { state in
            state.last += 16
            return state.last
        }
    }

    static func insert(_ context: Context) { state.withLock { $0.contexts[context.handle] = context } }

    static func remove(_ context: Context) { state.withLock { _ = $0.contexts.removeValue(forKey: context.handle) } }

    /// The context that a handle from C means, if there is one.
    static func context(_ handle: OpaquePointer?) -> Context? {
        guard areOfThisProcess else { return nil }
        let number = UInt(bitPattern: handle)
        return state.withLock { $0.contexts[number] }
    }
}

extension Context {
    /// What C gets for this context.
    var pointer: OpaquePointer? { OpaquePointer(bitPattern: handle) }
}

extension PathBox {
    /// What C gets where it becomes an owner.
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
    /// What C gets, who is the only owner.
    func retained() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    /// The box of a request that C has.
    static func of(_ request: OpaquePointer?) -> RequestBox? {
        request.map { Unmanaged<RequestBox>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    static func release(_ request: OpaquePointer?) {
        if let request { Unmanaged<RequestBox>.fromOpaque(UnsafeRawPointer(request)).release() }
    }
}

/// What a C program wants to have back with its callbacks; never looked into.
struct UserPointer: @unchecked Sendable {  // the program's own: it is handed through, and nothing else
    let pointer: UnsafeMutableRawPointer?

    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
