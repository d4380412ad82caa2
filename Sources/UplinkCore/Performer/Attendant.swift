// SPDX-License-Identifier: Apache-2.0

/// A task that serves the performer for a while, known by a number so that a late word from an earlier one is told apart.
struct Attendant {
    private var number: UInt64 = 0
    private(set) var isActive = false
    private var task: Task<Void, Never>?

    /// Calls for a new task and gives its number.
    mutating func start() -> UInt64 {
        number += 1
        isActive = true
        task = nil
        return number
    }

    /// Takes the task that was made, or hands it back when it is not needed any more.
    mutating func attach(_ task: Task<Void, Never>, _ number: UInt64) -> Task<Void, Never>? {
        guard isCurrent(number) else { return task }
        self.task = task
        return nil
    }

    /// Lets go of the task, and hands it out to be cancelled if it was there already.
    @discardableResult
    mutating func end() -> Task<Void, Never>? {
        defer { task = nil }
        isActive = false
        return task
    }

    func isCurrent(_ number: UInt64) -> Bool { isActive && number == self.number }
}

/// What a performer holds at a moment.
package struct PerformerCensus: Sendable, Equatable {
    /// Calls whose operation has not begun.
    package var waiting = 0
    /// Those of them that lack a slot alone.
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
