// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct LoggingTests {
    private let transport = StubTransport()
    private let clock = ManualClock()
    private let log = Notes<HTTPLogEntry>()
    private let url = "http://a.example/p?token=geheim"
    private let secret = HTTPField.Name("X-Api-Key")!
    private let other = HTTPField.Name("X-Session")!

    private func client(showsQueries: Bool = false) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.sensitiveFields = [secret]
        configuration.middlewares = [.logging(showsQueries: showsQueries) { [log] in log.add($0) }]
        return HTTPClient(transport: transport, configuration: configuration, clock: clock)
    }

    @Test func nothingSecretIsLogged() async throws {
        transport.answer(
            url,
            .response(
                headers: [
                    .setCookie: "id=geheim", .location: "http://u:geheim@b/?geheim", .contentLocation: "/x?geheim",
                    .server: "s", HTTPField.Name("Link")!: "</next?geheim>; rel=next",
                    HTTPField.Name("Refresh")!: "5; url=/x?geheim",
                ]))
        let headers: HTTPFields = [
            .authorization: "Bearer geheim", .proxyAuthorization: "Basic geheim", .cookie: "a=geheim",
            secret: "geheim", other: "geheim", .accept: "text/plain", .referer: "http://c/?geheim",
            HTTPField.Name("Destination")!: "http://d/?geheim",
        ]
        _ = try await client().get(url, headers: headers, options: .init(sensitiveFields: [other]))
        let entry = try #require(log.all.first)
        #expect(log.all.count == 1)
        #expect(entry.fields[.accept] == "text/plain")
        #expect(entry.fields[.authorization] == "<redacted>")
        #expect(entry.fields[.referer] == "http://c/?…")
        #expect(entry.fields[HTTPField.Name("Destination")!] == "http://d/?…")
        guard case .response(let head) = entry.outcome else {
            Issue.record("expected a response")
            return
        }
        #expect(head.headerFields[.server] == "s")
        #expect(head.headerFields[.contentLocation] == "http://a.example/x?…")
        #expect(!"\(entry) \(entry.fields) \(head.headerFields)".contains("geheim"))
        #expect(entry.description == "#\(entry.id) GET http://a.example/p?… 200 in 0 ms")
        // The request itself went out as it was, and so does the answer come in.
        #expect(transport.requests.first?.head.headerFields[.authorization] == "Bearer geheim")
    }

    @Test func queriesAreShownOnlyWhenAskedFor() async throws {
        transport.answer(url, .text("a"))
        _ = try await client(showsQueries: true).get(url)
        #expect(log.all.first?.url == url)
    }

    @Test func errorsAndCancellationsAreLoggedWithTheirTime() async throws {
        transport.answer(url, .error(.maybeProcessed).after(.seconds(3), on: clock), .silence)
        let task = Task { [client = client(), url] in try await client.get(url) }
        try await clock.advance(by: .seconds(3))
        _ = await clientError { _ = try await task.value }
        let second = Task { [client = client(), url] in try await client.get(url) }
        try await eventually { transport.requests.count == 2 }
        second.cancel()
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        #expect(log.all.map(\.duration) == [.seconds(3), .zero])
        #expect(log.all.map(\.description).first?.hasSuffix("failed: emptyReply/firstByte: closed in 3000 ms") == true)
        #expect(log.all.map(\.description).last?.hasSuffix("cancelled in 0 ms") == true)
        #expect(Set(log.all.map(\.id)).count == 2)
    }
}
