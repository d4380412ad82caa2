// SPDX-License-Identifier: Apache-2.0

/// A task that serves the performer for a while. It has a number, so that a late message from an earlier task can be
/// told apart.
struct NumberedTask {
    /// How far the current task has come.
    private enum State {
        /// None is needed.
        case idle
        /// It has been asked for.
        case starting
        /// It runs.
        case running(Task<Void, Never>)
    }

    private var number: UInt64 = 0
    private var state = State.idle

    /// Whether a task is needed, though it may not run yet.
    var isActive: Bool {
        switch state {
        case .idle: false
        case .starting, .running: true
        }
    }

    /// Asks for a new task and returns its number.
    mutating func start() -> UInt64 {
        number += 1
        state = .starting
        return number
    }

    /// Takes the task that was made, or hands it back if it is no longer needed.
    mutating func attach(_ task: Task<Void, Never>, _ number: UInt64) -> Task<Void, Never>? {
        guard isCurrent(number) else { return task }
        state = .running(task)
        return nil
    }

    /// Lets go of the task, and returns it to be cancelled if it had been attached.
    @discardableResult
    mutating func end() -> Task<Void, Never>? {
        defer { state = .idle }
        switch state {
        case .running(let task): return task
        case .idle, .starting: return nil
        }
    }

    func isCurrent(_ number: UInt64) -> Bool { isActive && number == self.number }
}
