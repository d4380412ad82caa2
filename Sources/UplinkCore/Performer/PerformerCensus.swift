// SPDX-License-Identifier: Apache-2.0

/// What a performer holds at one moment.
package struct PerformerCensus: Sendable, Equatable {
    /// Calls whose operation has not begun.
    package var waiting = 0
    /// Those of them that lack only a slot.
    package var inLine = 0
    /// Calls whose operation runs.
    package var running = 0
    /// Deadlines that have not passed.
    package var deadlines = 0
    /// Whether the monitor is watched.
    package var isSubscribed = false
    /// Whether a deadline is armed on the clock.
    package var isArmed = false

    package init() {}

    init(waiting: Int, inLine: Int, running: Int, deadlines: Int, isSubscribed: Bool, isArmed: Bool) {
        (self.waiting, self.inLine, self.running, self.deadlines) = (waiting, inLine, running, deadlines)
        (self.isSubscribed, self.isArmed) = (isSubscribed, isArmed)
    }
}
