// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

/// A performer on a stub monitor and a manual clock, and a count of the operations that ran.
struct PerformerFixture: Sendable {
    /// Very many calls; fewer where ThreadSanitizer makes each a hundred times as dear.
    static let multitude = Timing.isInstrumented ? 10_000 : 100_000

    let monitor: StubNetworkMonitor
    let clock = ManualClock()
    let performer: NetworkOperationPerformer
    let runs = Locked(0)

    init(_ path: NetworkPath?, maximumRunning: Int? = nil) {
        monitor = StubNetworkMonitor(path)
        performer = NetworkOperationPerformer(monitor: monitor, clock: clock, maximumRunning: maximumRunning)
    }

    var runCount: Int { runs.withLock { $0 } }

    /// Starts a perform whose operation counts itself, in a task of its own.
    func start(
        withinSeconds seconds: Double, requiring requirement: NetworkRequirement = .internet
    ) -> Task<Result<Int, PerformFailure<Never>>, Never> {
        Task(name: "perform within \(seconds)") {
            await performer.perform(withinSeconds: seconds, requiring: requirement) { count() }
        }
    }

    func count() -> Int {
        runs.withLock { runs in
            runs += 1
            return runs
        }
    }

    /// Waits until so many calls wait, which happens on other threads and in no virtual time.
    func waitForCalls(_ count: Int) async throws {
        try await eventually { performer.census.waiting == count && (count == 0 || monitor.isObserved) }
    }

    /// Nothing is left of any call.
    func expectNothingIsLeft() async throws {
        #expect(performer.census == PerformerCensus())
        try await eventually { clock.sleepers.isEmpty }  // who is cancelled leaves on a thread of its own
        try await eventually { !monitor.isObserved }
    }
}

extension Result {
    /// The code of an outcome that says that the operation never ran.
    func notStartedCode<F>() -> NetworkOperationError.Code? where Failure == PerformFailure<F> {
        guard case .failure(.notStarted(let error)) = self else { return nil }
        return error.code
    }

    /// What was missing in an outcome that says that time was over.
    func missing<F>() -> NetworkOperationError.Missing? where Failure == PerformFailure<F> {
        guard case .failure(.notStarted(let error)) = self else { return nil }
        return error.missing
    }
}
