// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// A clock that a test moves by hand, so that testing an hour's wait takes no time.
///
/// Code under test reaches its sleep when it does, on its own thread. So ``advance(by:sleepers:patience:)`` first waits
/// until as many sleepers as the test expects are asleep, and only then moves the time. If they do not come, it throws
/// an error that names those that did: give tasks names (`Task(name: "loader") { … }`) to recognise them.
///
/// ```swift
/// let clock = ManualClock()
/// let performer = NetworkOperationPerformer(monitor: StubNetworkMonitor(.offline()), clock: clock)
/// async let outcome = performer.perform(withinSeconds: 3) { "loaded" }
/// try await clock.advance(by: .seconds(3))
/// // outcome: .failure(.notStarted(timedOut)), three seconds later for the performer, at once for the test
/// ```
public final class ManualClock: Clock, Sendable {
    /// A moment on the clock: the time since the clock was created.
    public struct Instant: InstantProtocol, Sendable, Hashable {
        /// The time since the clock was created.
        public let offset: Duration

        /// The moment that much later; 292 years at most.
        public func advanced(by duration: Duration) -> Self { Self(offset: offset + duration.clamped) }
        /// The time from this moment to another.
        public func duration(to other: Self) -> Duration { other.offset - offset }
        /// Whether this moment comes first.
        public static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private let machine = Locked(ManualClockMachine())

    /// Creates a clock that is at zero.
    public init() {}

    /// The moment to which the test has moved the clock.
    public var now: Instant { Instant(offset: machine.withLock { $0.now }) }

    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The current sleepers, in the order in which they are due, each with its task's name and how long it still has to
    /// sleep.
    public var sleepers: [String] { machine.withLock { $0.names } }

    /// Sleeps until the test has moved the clock to `deadline`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = machine.withLock { $0.reserve() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let name = Task.name ?? "a task without a name"
                perform(
                    machine.withLock {
                        $0.sleep(
                            id, until: deadline.offset, name: name, continuation, isCancelled: Task.isCancelled)
                    })
            }
        } onCancel: {
            perform(machine.withLock { $0.cancel(id) })
        }
    }

    /// Waits until `count` sleepers are asleep, then moves the time and wakes those that are due: they are resumed in
    /// order, and run concurrently.
    ///
    /// A sleeper that wakes and sleeps again does so from the new time: to see each tick of a ticker, advance tick by
    /// tick.
    ///
    /// - Parameters:
    ///   - duration: How far to move. Zero or less only waits for the sleepers.
    ///   - count: How many sleepers the test expects, at least. Zero moves the time immediately.
    ///   - patience: How long to wait for them, in real time.
    /// - Throws: ``ManualClockError`` when they do not come; `CancellationError` when the test is cancelled.
    public func advance(
        by duration: Duration, sleepers count: Int = 1, patience: Duration = .seconds(10)
    ) async throws {
        try await waitForSleepers(count, patience: patience)
        move(by: duration)
    }

    /// Moves the time immediately, and wakes the sleepers that are due: they are resumed in order, and run
    /// concurrently. The time never moves back: a negative duration is zero.
    public func move(by duration: Duration) { perform(machine.withLock { $0.move(by: duration) }) }

    /// Waits until at least `count` sleepers are asleep.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - patience: How long to wait for them, in real time.
    /// - Throws: ``ManualClockError`` when they do not come; `CancellationError` when the test is cancelled.
    public func waitForSleepers(_ count: Int = 1, patience: Duration = .seconds(10)) async throws {
        let id = machine.withLock { $0.reserve() }
        let limit = Locked<Task<Void, any Error>?>(nil)
        defer { limit.withLock { $0 }?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform(
                    machine.withLock { $0.wait(id, for: count, continuation, isCancelled: Task.isCancelled) })
                let patient = Task {
                    try await Task.sleep(for: patience.clamped, clock: .continuous)
                    perform(machine.withLock { $0.giveUp(id, after: patience) })
                }
                limit.withLock { $0 = patient }
            }
        } onCancel: {
            perform(machine.withLock { $0.cancel(id) })
        }
    }

    /// Checks that there are no sleepers, for the end of a test.
    ///
    /// - Throws: ``ManualClockError`` that names those there are.
    public func checkNobodySleeps() throws(ManualClockError) {
        let names = sleepers
        if !names.isEmpty { throw ManualClockError(message: "still asleep: \(names.joined(separator: ", "))") }
    }

    private func perform(_ resumptions: [ManualClockMachine.Resumption]) {
        for (continuation, result) in resumptions { continuation.resume(with: result) }
    }
}

/// An expectation of a test that a ``ManualClock`` did not find met.
public struct ManualClockError: Error, Sendable, CustomStringConvertible {
    /// Which sleepers there are, which were expected, and what to look for.
    public let message: String
    /// The message.
    public var description: String { message }
}
