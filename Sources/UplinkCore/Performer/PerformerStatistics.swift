// SPDX-License-Identifier: Apache-2.0

/// The number of a performer's current calls, and the outcomes of earlier ones, at one moment.
public struct PerformerStatistics: Sendable, Hashable {
    /// Calls whose operation has not begun: they wait for the network, a slot, or the end of a pause between two
    /// attempts.
    public internal(set) var waiting = 0
    /// Operations that are running.
    public internal(set) var running = 0
    /// Operations started since the performer was made, counting every attempt.
    public internal(set) var granted = 0
    /// Calls whose time ended before the operation could start, or start again. Not those that ended with an attempt's
    /// error because the pause before the next one would have been longer than the time.
    public internal(set) var timedOut = 0
    /// Calls cancelled before the operation could start, or start again.
    public internal(set) var cancelled = 0

    init() {}
}
