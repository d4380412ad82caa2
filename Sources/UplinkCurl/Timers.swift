// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// The engine's own timers; its generations have others.
final class Timers {
    /// The timer for the deadlines of all transfers.
    let deadlines: LoopTimer
    /// The timer for ``CurlEngine/nudge()``.
    let nudge: LoopTimer
    var isNudging = false
    /// The timer for ``CurlEngine/momentPassed()``.
    let moment: LoopTimer
    /// The time that `deadlines` is set for.
    var deadline: Int64?
    /// Whether it came late, so that the sockets are looked at first.
    var lateness = Lateness.none

    /// What has happened since `deadlines` fired late.
    enum Lateness {
        /// It did not, or its deadlines have been acted on.
        case none
        /// Only other timers have fired: libuv handles all that are due before it looks at sockets.
        case handlesTimers
        /// The loop has looked at its sockets, or is about to.
        case looksAtSockets
    }

    init(for engine: isolated CurlEngine) throws(EventLoopError) {
        deadlines = try LoopTimer(for: engine, ended: { $0.loopEnded() }) { $0.deadlinesPassed() }
        nudge = try LoopTimer(for: engine) { $0.nudge() }
        moment = try LoopTimer(for: engine) { $0.momentPassed() }
    }
}
