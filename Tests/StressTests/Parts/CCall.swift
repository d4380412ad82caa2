// SPDX-License-Identifier: Apache-2.0
import CUplink
import TestSupport
import Uplink

/// The numbers that calls of the C library may bring in a storm.
enum Status {
    static let badHandle = CInt(UPLINK_EBADHANDLE.rawValue)
    static let stopped = CInt(UPLINK_ESTOPPED.rawValue)
    static let noCall = CInt(UPLINK_ENOENT.rawValue)
    static let noNetwork = CInt(UPLINK_ENONETWORK.rawValue)
    static let cancelled = CInt(UPLINK_ECANCELED.rawValue)
}

/// One call of the C library, and what its callbacks were told. It outlives the context, so that a callback that comes
/// too late is seen.
class CCall: @unchecked Sendable {  // what changes is in `state`; what subclasses add does not change
    private struct State {
        var id: UInt64 = 0
        var status: CInt?
        var runs = 0
        var ends = 0
    }

    let storm: CStorm
    private let state = Locked(State())

    init(in storm: CStorm) { self.storm = storm }

    /// Its number; zero until it is known.
    var id: UInt64 { state.withLock { $0.id } }
    /// How often its operation ran.
    var runs: Int { state.withLock { $0.runs } }

    /// Starts it; overridden.
    func begin(_ user: UnsafeMutableRawPointer, _ id: inout UInt64) -> CInt { Status.badHandle }

    final func start() {
        var id: UInt64 = 0
        let status = begin(Unmanaged.passUnretained(self).toOpaque(), &id)
        state.withLock { ($0.id, $0.status) = (id, status) }
        if status == 0 { storm.record.begin() }
    }

    /// Finds the call that a callback belongs to.
    static func of(_ user: UnsafeMutableRawPointer?) -> Self? {
        user.map { Unmanaged<Self>.fromOpaque($0).takeUnretainedValue() }
    }

    final func noteRun() { state.withLock { $0.runs += 1 } }

    final func noteEnd(_ status: CInt) {
        state.withLock { $0.ends += 1 }
        storm.record.expect(storm.isAlive, "\(Self.self) was told its end after its context's")
        storm.record.end(String(cString: uplink_error_name(status)))
    }

    /// When the context is gone.
    final func check() {
        let (status, ends) = state.withLock { ($0.status ?? 0, $0.ends) }
        if status == 0 {
            storm.record.expect(ends == 1, "\(Self.self) had \(ends) ends")
        } else {
            let isExpected = status == Status.stopped || status == Status.badHandle
            storm.record.expect(isExpected && ends == 0, "\(Self.self) did not start: \(status), and had \(ends) ends")
        }
    }
}

/// An operation that completes at once, later, or never.
final class CPerform: CCall, @unchecked Sendable {  // as its superclass
    private enum Manner: CaseIterable { case atOnce, later, never }

    private let manner: Manner
    private let limit: Int64
    private let flags: UInt32

    init(in storm: CStorm, _ random: inout SeededGenerator) {
        manner = random.oneIn(10) ? .never : random.oneIn(2) ? .later : .atOnce
        limit = random.oneIn(5) ? -1 : Int64.random(in: 0..<40, using: &random)
        flags = random.oneIn(4) ? [1, 2, 4, 8].randomElement(using: &random) ?? 0 : 0
        super.init(in: storm)
    }

    override func begin(_ user: UnsafeMutableRawPointer, _ id: inout UInt64) -> CInt {
        var requirement = uplink_requirement()
        requirement.size = MemoryLayout<uplink_requirement>.size
        requirement.flags = flags
        return uplink_perform(
            storm.context, limit, &requirement,
            { context, id, user in CPerform.of(user)?.run(id) },
            { _, _, outcome, user in
                guard let call = CPerform.of(user), let outcome else { return }
                call.storm.record.expect(
                    call.runs == (outcome.pointee.started ? 1 : 0), "\(outcome.pointee) after \(call.runs) runs")
                call.noteEnd(outcome.pointee.status)
            }, user, &id)
    }

    private func run(_ id: UInt64) {
        noteRun()
        switch manner {
        case .atOnce:
            let status = uplink_operation_complete(storm.context, id, 7)
            let isExpected = [0, Status.noCall, Status.stopped, Status.badHandle].contains(status)
            storm.record.expect(isExpected, "uplink_operation_complete: \(status)")
        case .later: storm.leaveOpen(id)
        case .never: break
        }
    }
}

/// A watch on the path, which ends when it is cancelled or with its context.
final class CWatch: CCall, @unchecked Sendable {  // as its superclass
    override func begin(_ user: UnsafeMutableRawPointer, _ id: inout UInt64) -> CInt {
        uplink_watch(
            storm.context,
            { _, _, status, path, user in
                guard let call = CWatch.of(user) else { return }
                call.storm.record.expect((status == 0) == (path != nil), "a watch was told \(status)")
                if status != 0 { call.noteEnd(status) }
            }, user, &id)
    }
}
