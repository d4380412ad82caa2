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

    @Test func aServerThatIsSilentTwiceIsGivenUp() async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.answer("https://example.org/greeting", .text("", status: .serviceUnavailable), .silence)
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [.retry()]
        configuration.timeouts.total = .seconds(60)
        let client = HTTPClient(transport: transport, configuration: configuration, clock: clock)
        let call = Task { try await client.get("https://example.org/greeting").status }
        try await clock.advance(by: .seconds(30))  // the pause before the second attempt
        try await eventually { transport.requests.count == 2 }
        try await clock.advance(by: .seconds(30))
        let error = await #expect(throws: HTTPClientError.self) { try await call.value }
        #expect(error?.code == .totalTimeout)
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

    @Test func aNetworkThatFlickersIsNotStable() async throws {
        let (clock, monitor) = (ManualClock(), StubNetworkMonitor(.online()))
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let call = Task {
            try await performer.perform(within: .seconds(60), requiring: .stable(for: .seconds(5))) { clock.now.offset }
        }
        try await clock.advance(by: .seconds(4))
        monitor.goOffline()
        monitor.goOnline()
        try await monitor.waitForSubscribers()  // the performer has taken it: the five seconds begin anew
        try await clock.advance(by: .seconds(1))
        try await clock.advance(by: .seconds(4))
        #expect(try await call.value == .seconds(9))
    }

    @Test func myMonitorKeepsThePromises() async throws {
        try await NetworkMonitorConformance(
            make: { StubNetworkMonitor(.offline()) }, goOnline: { $0.goOnline() }, goOffline: { $0.goOffline() },
            stop: { $0.stop() }
        ).check()
    }
}
