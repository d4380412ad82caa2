// SPDX-License-Identifier: Apache-2.0

/// One question: what the same work costs with each of several subjects, at several counts.
public struct Experiment: Sendable {
    /// One word of the command line and of the plot's file name.
    public let name: String
    /// The heading of its table.
    public let title: String
    /// What one operation is, as the table says it: "timer", "round trip".
    public let operation: String
    /// How many operations each run has.
    public let counts: [Int]
    /// The first is what the others are compared with.
    public let subjects: [Subject]
    /// What the tables show beside processor time.
    public let columns: [Column]
    /// It takes minutes or much memory, so it is run where `--largest` allows it, and not otherwise.
    public let isOnRequest: Bool

    /// Further figures of each operation.
    public enum Column: Sendable {
        /// The time that passes, divided by the operations.
        case wall
        /// What the process's resident memory grew by at its highest, divided by the operations.
        case peak
        /// The processor time of the part that the subject marked with this name.
        case part(String)
        /// The bytes that the subject noted under this name, and what that is beyond the first subject's.
        case bytesBeyondBaseline(String)
        /// What the subject noted of the whole run: a time, such as a percentile.
        case time(String)
        /// What the subject noted of the whole run: a number, such as how often it was woken.
        case number(String)
        /// What the process's resident memory grew by at its highest, in all.
        case peakOfAll
        /// How often the process's threads went to sleep or were put aside, in all.
        case contextSwitches
    }

    public init(
        _ name: String, title: String, operation: String, counts: [Int] = [10, 1_000, 100_000, 1_000_000],
        columns: [Column] = [.peak], isOnRequest: Bool = false, subjects: [Subject]
    ) {
        self.name = name
        self.title = title
        self.operation = operation
        self.counts = counts
        self.columns = columns
        self.isOnRequest = isOnRequest
        self.subjects = subjects
    }
}

/// One way to do an experiment's work. Each run has a process of its own.
public struct Subject: Sendable {
    public let name: String
    /// Above this it is not asked, because it would take minutes or all memory.
    public let limit: Int
    let run: @Sendable (Run) async throws -> Void

    public init(_ name: String, limit: Int = .max, _ run: @escaping @Sendable (Run) async throws -> Void) {
        self.name = name
        self.limit = limit
        self.run = run
    }
}

/// Stops a run whose subject did not do what it was to do.
public struct WrongResult: Error {
    public init() {}
}
