// SPDX-License-Identifier: Apache-2.0
import CLibUV
import UplinkCore

/// Timers for very many on one event loop: each is an id and a closure, and all share one heap and one libuv timer.
///
/// To arm and to cancel one takes no lock and allocates nothing but the table's growth; a million pending take 54 MB
/// (`scripts/benchmark timers`), with what their closures capture on top. Made for an actor that lives on the loop:
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
/// All of it belongs to the loop's thread; from another one it stops the program. Dropping it cancels every timer; as
/// long as it is there, an armed timer keeps what its closure captures.
public final class LoopTimers {
    /// Stands for one timer, also after it has fired or been cancelled; never used again.
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
    @exclusivity(unchecked)  // no method of the table calls out, and the check is a third of what a timer costs
    private var table = DeadlineTable<Callback>()
    /// While closures are called: the moment up to which timers are due now.
    private var firing: Int64?

    /// Makes a set of timers, none of which is armed.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread the caller runs.
    ///   - isolation: The actor that will use them, which has to live on that loop.
    ///   - ended: Called if the loop ends while the timers are there. None of those armed fires then.
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

    /// The handle's way back, which does not keep the timers alive: a closure may drop them, and the next is not called then.
    private final class Way {
        weak var timers: LoopTimers?

        func fireDue() {
            guard var timers else { return }
            let now = Int64(clamping: uv_hrtime())
            timers.firing = now
            while let (id, callback) = timers.table.popDue(at: now) {
                callback.fired(ID(value: id))
                if isKnownUniquelyReferenced(&timers) { return }  // nobody has them but this call
            }
            timers.endFiring()
        }
    }

    /// How many timers are armed.
    public var count: Int { table.count }

    /// Arms a timer, which fires once, in the order of deadlines: never early, and on an idle loop a millisecond late at
    /// most.
    ///
    /// - Parameters:
    ///   - delay: From now. Zero and negative: in the loop's next turn, not before this returns. Beyond 292 years: never.
    ///   - fired: Called on the loop's thread with the timer's id. May arm and cancel timers.
    /// - Throws: ``EventLoopError`` when the loop has ended.
    public func arm(
        after delay: Duration, _ fired: @escaping (_ id: ID) -> Void
    ) throws(EventLoopError) -> ID {
        let now = Int64(clamping: uv_hrtime())
        let (sum, overflow) = now.addingReportingOverflow(max(0, delay.nanosecondsRoundedUp))
        return try arm(at: LoopClock.Instant(nanoseconds: overflow ? .max : sum), fired)
    }

    /// Arms a timer for a moment of ``LoopClock``. One that has passed counts as now.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    public func arm(
        at deadline: LoopClock.Instant, _ fired: @escaping (_ id: ID) -> Void
    ) throws(EventLoopError) -> ID {
        confine()
        guard handle.isOpen else { throw EventLoopError(.ended, during: "arming a timer") }
        let id = table.add(Callback(fired: fired))
        // What a closure arms waits for the next turn, even if it is due.
        let due = max(deadline.nanoseconds, firing.map { $0 + 1 } ?? 0)
        if table.schedule(id, at: due), firing == nil { setAlarm() }
        return ID(value: id)
    }

    /// Cancels a timer: its closure is released now and never called. False: it has fired or been cancelled before.
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

    /// The closures are released, since what they capture often keeps these timers.
    private func loopEnded() {
        handle.close()  // so that nothing is armed from here on
        let timers = table
        table = DeadlineTable()
        withExtendedLifetime(timers) {}  // closures are released here, not amid the change of the table
        ended()
    }
}
