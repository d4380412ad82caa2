// SPDX-License-Identifier: Apache-2.0

/// How many calls a performer has now, and what became of those it had: numbers of one moment.
public struct PerformerStatistics: Sendable, Hashable {
    /// Calls whose operation has not begun: they wait for the network, for a slot, or for a pause between two attempts.
    public internal(set) var waiting = 0
    /// Operations that run.
    public internal(set) var running = 0
    /// Operations that were started since the performer was made, every attempt counted.
    public internal(set) var granted = 0
    /// Calls whose time was over before the operation could start, or could start again.
    public internal(set) var timedOut = 0
    /// Calls that were cancelled before the operation could start, or could start again.
    public internal(set) var cancelled = 0

    init() {}
}
