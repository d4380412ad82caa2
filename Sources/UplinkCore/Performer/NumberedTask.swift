// SPDX-License-Identifier: Apache-2.0

/// A task that serves the performer for a while. It has a number, so that a late message from an earlier task can be
/// told apart.
struct NumberedTask {
    private var number: UInt64 = 0
    private(set) var isActive = false
    private var task: Task<Void, Never>?

    /// Asks for a new task and returns its number.
    mutating func start() -> UInt64 {
        number += 1
        isActive = true
        task = nil
        return number
    }

    /// Takes the task that was made, or hands it back if it is no longer needed.
    mutating func attach(_ task: Task<Void, Never>, _ number: UInt64) -> Task<Void, Never>? {
        guard isCurrent(number) else { return task }
        self.task = task
        return nil
    }

    /// Lets go of the task, and returns it to be cancelled if it had been attached.
    @discardableResult
    mutating func end() -> Task<Void, Never>? {
        defer { task = nil }
        isActive = false
        return task
    }

    func isCurrent(_ number: UInt64) -> Bool { isActive && number == self.number }
}
