// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

/// The examples that stand in the comments of the test kit.
@Suite(.timeLimit(.minutes(1)))
struct ReferenceExampleTests {
    @Test func aClockThatTheTestMoves() async throws {
        let clock = ManualClock()
        let performer = NetworkOperationPerformer(monitor: StubNetworkMonitor(.offline()), clock: clock)
        async let outcome = performer.perform(withinSeconds: 3) { "loaded" }
        try await clock.advance(by: .seconds(3))
        // outcome: .failure(.notStarted(timedOut)), three seconds later for the performer, at once for the test
        guard case .failure(.notStarted(let error)) = await outcome else {
            Issue.record("it was started")
            return
        }
        #expect(error.code == .timedOut)
    }

    @Test func aServerThatAnswersWhatTheTestSays() async throws {
        let transport = StubTransport()
        transport.answer("https://example.org/", .text("hello"))
        transport.answer(.post, "https://example.org/", .text("", status: .serviceUnavailable), .text("created"))
        let client = HTTPClient(transport: transport)
        // …
        _ = try await client.get("https://example.org/")
        for _ in 1...2 { _ = try await client.post("https://example.org/", body: .bytes([])) }
        #expect(transport.unused.isEmpty)
    }

    @Test func aTimeoutOnTheTestsClock() async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.answer("https://example.org/", .silence)
        let client = HTTPClient(transport: transport, clock: clock)
        let timeouts = HTTPTimeouts(total: .seconds(10))
        let call = Task { try await client.get("https://example.org/", timeouts: timeouts).status }
        try await clock.advance(by: .seconds(10))
        // call: HTTPClientError, totalTimeout
        let error = await #expect(throws: HTTPClientError.self) { try await call.value }
        #expect(error?.code == .totalTimeout)
    }

    @Test func whatCannotBeAwaited() async throws {
        let recorder = (words: ["value([])", "loading"], ())
        try await eventually("two elements are recorded") { recorder.words.count == 2 }
        let monitor = StubNetworkMonitor(.online())
        let listening = Task { for try await _ in monitor.paths {} }
        monitor.goOffline()
        try await monitor.waitForSubscribers()
        listening.cancel()
        try await listening.value
    }

    @Test func keepsThePromises() async throws {
        try await NetworkMonitorConformance(
            make: { StubNetworkMonitor(.offline()) }, goOnline: { $0.goOnline() }, goOffline: { $0.goOffline() }
        ).check()
    }

    @Test(.enabled(if: TestNetwork.isPermitted, "networks need root"))
    func aNetworkInTheKernel() async throws {
        try await withTestNetwork { network in
            print(try await network.run(["ip", "-brief", "address"]).output)
            try network.cableOut()
            try network.cableIn()
            try network.changeAddress()
        }
    }
}
