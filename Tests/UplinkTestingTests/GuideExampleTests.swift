// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

struct Greeting: Sendable {
    let client: HTTPClient
    let performer: any NetworkOperationPerforming

    func load() async throws -> String {
        try await performer.perform(within: .seconds(10)) {
            let page = try await client.get("https://example.org/greeting").body.collect(upTo: 1 << 10)
            return String(decoding: page, as: UTF8.self)
        }
    }
}

/// The tests that the guide "Testing your code" shows.
@Suite(.timeLimit(.minutes(1)))
struct GuideExampleTests {
    @Test func withoutANetworkNothingIsSent() async throws {
        let transport = StubTransport()
        let performer = StubNetworkOperationPerformer(.timesOut)
        let greeting = Greeting(client: HTTPClient(transport: transport), performer: performer)
        await #expect(throws: NetworkOperationError.self) { try await greeting.load() }
        #expect(transport.requests.isEmpty)
        #expect(performer.calls.map(\.seconds) == [10])
    }

    @Test func aGreetingThatBreaksOffIsAnError() async throws {
        let transport = StubTransport()
        let reset = HTTPClientError(.connectionReset, phase: .body, message: "the connection broke")
        transport.answer("https://example.org/greeting", .broken(reset, after: [Array("hel".utf8)]))
        let greeting = Greeting(client: HTTPClient(transport: transport), performer: StubNetworkOperationPerformer())
        await #expect(throws: HTTPClientError.self) { try await greeting.load() }
    }

    @Test func aGreetingWaitsForTheNetwork() async throws {
        let (transport, clock, monitor) = (StubTransport(), ManualClock(), StubNetworkMonitor(.offline()))
        transport.answer("https://example.org/greeting", .text("hello"))
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let greeting = Greeting(client: HTTPClient(transport: transport), performer: performer)
        async let text = greeting.load()
        try await clock.advance(by: .seconds(9))  // waits until the call sleeps, then moves the time
        #expect(transport.requests.isEmpty)
        monitor.goOnline()
        #expect(try await text == "hello")
    }

    @Test func myMonitorKeepsThePromises() async throws {
        try await NetworkMonitorConformance(
            make: { StubNetworkMonitor(.offline()) }, goOnline: { $0.goOnline() }, goOffline: { $0.goOffline() },
            stop: { $0.stop() }
        ).check()
    }
}
