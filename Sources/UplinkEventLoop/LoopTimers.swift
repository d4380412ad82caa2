// SPDX-License-Identifier: Apache-2.0
import CLibUV
import UplinkCore

/// A large set of timers on one event loop: each is an id and a closure, and all share one heap and one libuv timer.
///
/// Arming and cancelling take no lock, and allocate only when the table grows. A million pending timers take 54 MB
/// (`scripts/benchmark timers`), in addition to what their closures capture. Made for an actor that lives on the loop:
///
/// ```swift
/// actor Connections {
///     nonisolated let loop: EventLoop
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
///     private var timers: LoopTimers?
///
///     init(on loop: EventLoop) { self.loop = loop }
///
///     func open() throws {
///         let timers = try timers ?? LoopTimers(on: loop)
///         self.timers = timers
///         _ = try timers.arm(after: .seconds(30)) { _ in self.close() }
///     }
///     // …
/// }
/// ```
///
/// Everything belongs to the loop's thread; a call from another thread traps. Dropping the set cancels every timer; as
/// long as it exists, an armed timer keeps what its closure captures alive.
public final class LoopTimers {
    /// Identifies one timer, even after it has fired or been cancelled; never used again.
    public struct ID: Sendable, Hashable {
        fileprivate let value: DeadlineTable<Callback>.ID
    }

    /// A struct, because a generic table of bare closures would allocate an adapter for each.
    fileprivate struct Callback {
        let fired: (ID) -> Void
    }

    private let loop: EventLoop
    private let handle: TimerHandle
    private let ended: () -> Void
    @exclusivity(unchecked)  // no method of the table calls out, and the check is a third of a timer's cost
    private var table = DeadlineTable<Callback>()
    /// The moment up to which timers are due, while closures are being called.
    private var firing: Int64?

    /// Makes a set of timers with none armed.
    ///
    /// - Parameters:
    ///   - loop: The loop whose thread the caller runs on.
    ///   - isolation: The actor that will use them, which must live on that loop.
    ///   - ended: Called if the loop ends while the timers exist. The armed ones do not fire then.
    /// - Throws: ``EventLoopError`` when the loop has ended.
    public init(
        on loop: EventLoop, isolation: isolated (any Actor)? = #isolation, ended: @escaping () -> Void = {}
    ) throws(EventLoopError) {
        let executor = isolation?.unownedExecutor.asSerialExecutor()
        precondition(
            isolation == nil || executor === loop.isolation, "timers are used by an actor that lives on their loop")
        self.loop = loop
        self.ended = ended
        let way = Way()
        handle = try TimerHandle(on: loop.confined()) { way.fireDue() }
        handle.whenLoopEnds = { way.timers?.loopEnded() }
        way.timers = self
    }

    deinit { loop.executeUnlessEnded { [handle] in handle.close() } }

    /// The handle's reference to the timers, which does not keep them alive: a closure may drop them, and the next one
    /// is then not called.
    private final class Way {
        weak var timers: LoopTimers?

        func fireDue() {
            guard var timers else { return }
            let now = Int64(clamping: uv_hrtime())
            timers.firing = now
            while let (id, callback) = timers.table.popDue(at: now) {
                callback.fired(ID(value: id))
                if isKnownUniquelyReferenced(&timers) { return }  // this call holds the last reference
            }
            timers.endFiring()
        }
    }

    /// The number of armed timers.
    public var count: Int { table.count }

    /// Arms a timer. Timers fire once, in the order of deadlines: never early, and on an idle loop at most a
    /// millisecond late.
    ///
    /// - Parameters:
    ///   - delay: The time from now. Zero and negative: in the loop's next turn, not before this returns. Beyond 292
    ///     years: never.
    ///   - fired: Called on the loop's thread with the timer's id. May arm and cancel timers.
    /// - Throws: ``EventLoopError`` when the loop has ended.
    public func arm(
        after delay: Duration, _ fired: @escaping (_ id: ID) -> Void
    ) throws(EventLoopError) -> ID {
        let now = Int64(clamping: uv_hrtime())
        let (sum, overflow) = now.addingReportingOverflow(max(0, delay.nanosecondsRoundedUp))
        return try arm(at: LoopClock.Instant(nanoseconds: overflow ? .max : sum), fired)
    }

    /// Arms a timer for a moment of ``LoopClock``. A moment that has passed counts as now.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    public func arm(
        at deadline: LoopClock.Instant, _ fired: @escaping (_ id: ID) -> Void
    ) throws(EventLoopError) -> ID {
        confine()
        guard handle.isOpen else { throw EventLoopError(.ended, during: "arming a timer") }
        let id = table.add(Callback(fired: fired))
        // A timer armed by a closure waits for the next turn, even if it is due.
        let due = max(deadline.nanoseconds, firing.map { $0 + 1 } ?? 0)
        if table.schedule(id, at: due), firing == nil { setAlarm() }
        return ID(value: id)
    }

    /// Cancels a timer: its closure is released now and never called. Returns false if it had already fired or been
    /// cancelled.
    @discardableResult
    public func cancel(_ id: ID) -> Bool {
        confine()
        return table.remove(id.value) != nil
    }

    private func confine() { precondition(loop.isCurrent, "these timers belong to the event loop's own thread") }

    private func endFiring() {
        firing = nil
        setAlarm()
    }

    private func setAlarm() {
        if let alarm = table.alarmToSet() { handle.start(at: UInt64(alarm)) } else { handle.stop() }
    }

    /// Releases the closures, since what they capture often keeps these timers alive.
    private func loopEnded() {
        handle.close()  // so that nothing is armed from here on
        let timers = table
        table = DeadlineTable()
        withExtendedLifetime(timers) {}  // closures are released here, not in the middle of changing the table
        ended()
    }
}
