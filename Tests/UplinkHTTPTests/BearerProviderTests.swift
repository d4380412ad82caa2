// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkHTTP

/// Providers of tokens that send requests themselves.
@Suite(.timeLimit(.minutes(1)))
struct BearerProviderTests {
    private let transport = StubTransport()
    private let url = "https://a.example/"

    /// An access token that is had for a device's token, by the same client.
    @Test func providersMayAskForOneAnothersTokens() async throws {
        transport.respond { request in .text(request.head.headerFields[.authorization] ?? "none") }
        let clients = Notes<HTTPClient>()
        let asked = Notes<String>()
        func provider(_ name: String) throws -> HTTPBearerAuthentication {
            try .bearer(for: ["https://a.example"]) { _ in
                asked.add(name)
                _ = try await clients.all[0].get("https://a.example/\(name)")
                return name
            }
        }
        let client = HTTPClient(transport, try provider("access"), try provider("device"))
        clients.add(client)
        #expect(try await client.get(url).status == .ok)
        #expect(asked.all == ["access", "device"])
        let tokens = transport.requests.map { $0.head.headerFields[.authorization] }
        #expect(tokens == [nil, "Bearer device", "Bearer access"])
    }

    /// Each needs the other's token, and both are asked for at the same time.
    @Test func providersThatNeedOneAnotherDoNotWaitForOneAnother() async throws {
        transport.respond { _ in .text("a") }
        let clients = Notes<HTTPClient>()
        let gate = Gate()
        func provider(for origin: String, asking other: String) throws -> HTTPBearerAuthentication {
            try .bearer(for: [origin]) { _ in
                await gate.pass()
                _ = try await clients.all[0].get(other)
                return "t"
            }
        }
        let (one, two) = ("https://a.example", "https://b.example")
        let client = HTTPClient(
            transport, try provider(for: one, asking: two), try provider(for: two, asking: one))
        clients.add(client)
        let first = Task { try await client.get(one).status }
        let second = Task { try await client.get(two).status }
        try await eventually { gate.waiting == 2 }
        gate.open()
        #expect(try await first.value == .ok)
        #expect(try await second.value == .ok)
    }

    @Test func aTaskThatAProviderLeavesBehindHasTokens() async throws {
        transport.respond { _ in .text("a") }
        let clients = Notes<HTTPClient>()
        let background = Notes<Task<Void, any Error>>()
        let gate = Gate()
        let bearer: HTTPBearerAuthentication = try .bearer(for: ["https://a.example"]) { _ in
            let task = Task {
                await gate.pass()
                _ = try await clients.all[0].get("https://a.example/background")
            }
            background.add(task)
            return "t"
        }
        let client = HTTPClient(transport, bearer)
        clients.add(client)
        _ = try await client.get(url)
        gate.open()
        try await background.all[0].value
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == ["Bearer t", "Bearer t"])
    }

    @Test func theProviderMayUseTheClientItself() async throws {
        transport.answer("https://a.example/token", .text("t1"))
        transport.answer(url, .text("a"))
        let box = Locked<HTTPClient?>(nil)
        let client = HTTPClient(
            transport,
            try .bearer(for: ["https://a.example"]) { _ in
                guard let client = box.withLock({ $0 }) else { return "" }
                let body = try await client.get("https://a.example/token").body.collect(upTo: 10)
                return String(decoding: body, as: UTF8.self)
            })
        box.withLock { $0 = client }
        _ = try await client.get(url)
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == [nil, "Bearer t1"])
    }
}
