// SPDX-License-Identifier: Apache-2.0
import Testing
import Uplink
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct FirstProgramTests {
    @Test func whatComesTooLateIsNotStarted() async throws {
        let clock = ManualClock()
        let monitor = StubNetworkMonitor(.offline())
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let call = Task { try await performer.perform(within: .seconds(3600)) { "ran" } }
        try await clock.advance(by: .seconds(3601))  // waits until the call sleeps, then moves the time
        monitor.goOnline()
        await #expect(throws: NetworkOperationError.self) { try await call.value }
    }
}
