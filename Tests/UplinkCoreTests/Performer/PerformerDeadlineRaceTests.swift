// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

/// The network comes at the very moment at which the limit ends. Whatever the outcome, there is one, and "not started"
/// means that the operation never ran.
@Suite(.timeLimit(.minutes(5)), .undisturbed, .serialized)
struct PerformerDeadlineRaceTests {
    @Test func tenThousandRoundsOnTheManualClock() async throws {
        var (started, timedOut) = (0, 0)
        for round in 0..<10_000 {
            let fixture = PerformerFixture(.offline())
            let call = fixture.start(withinSeconds: 1)
            try await fixture.clock.waitForSleepers()
            if round.isMultiple(of: 2) {
                async let up: Void = fixture.monitor.goOnline()
                fixture.clock.move(by: .seconds(1))
                await up
            } else {
                async let end: Void = fixture.clock.move(by: .seconds(1))
                fixture.monitor.goOnline()
                await end
            }
            switch await call.value {
            case .success:
                #expect(fixture.runCount == 1)
                started += 1
            case .failure(.notStarted(let error)):
                #expect(error.code == .timedOut)
                #expect(fixture.runCount == 0)
                timedOut += 1
            case .failure(.operation): Issue.record("the operation does not throw")
            }
            #expect(fixture.performer.census == PerformerCensus())
        }
        #expect(started + timedOut == 10_000)
        #expect(started > 0 && timedOut > 0, "no overlap: \(started) started, \(timedOut) timed out")
    }

    @Test func tenThousandRoundsOnTheRealClock() async throws {
        var outcomes = (started: 0, timedOut: 0)
        for batch in 0..<100 {
            let monitor = StubNetworkMonitor(.offline())
            let performer = NetworkOperationPerformer(monitor: monitor)
            await withTaskGroup(of: Bool.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        let runs = Locked(0)
                        // Limits spread by microseconds round the moment at which the network comes.
                        let result = await performer.perform(withinSeconds: 0.002 + Double(index - 50) * 4e-6) {
                            runs.withLock { $0 += 1 }
                        }
                        let ran = runs.withLock { $0 }
                        switch result {
                        case .success: #expect(ran == 1)
                        case .failure(.notStarted(let error)):
                            #expect(error.code == .timedOut)
                            #expect(ran == 0)
                        case .failure(.operation): Issue.record("the operation does not throw")
                        }
                        return ran == 1
                    }
                }
                // Real time, because the race is between real threads.
                try? await Task.sleep(for: .microseconds(1500 + 10 * batch))
                monitor.goOnline()
                for await started in group { if started { outcomes.started += 1 } else { outcomes.timedOut += 1 } }
            }
            #expect(performer.census == PerformerCensus())
        }
        #expect(outcomes.started + outcomes.timedOut == 10_000)
        #expect(outcomes.started > 0 && outcomes.timedOut > 0, "no overlap: \(outcomes)")
    }
}
