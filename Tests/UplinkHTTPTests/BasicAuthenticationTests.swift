// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct BasicAuthenticationTests {
    private let transport = StubTransport()
    private let origin = "https://a.example"

    @Test(arguments: [
        ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),  // RFC 7617, section 2
        ("test", "123\u{A3}", "dGVzdDoxMjPCow=="),  // RFC 7617, section 2.1
        ("", "", "Og=="), ("a", "b:c", "YTpiOmM="), ("ab", "c?>", "YWI6Yz8+"),
    ])
    func theCredentialIsSentInUTF8(_ user: String, _ password: String, _ encoded: String) async throws {
        transport.answer("https://a.example/", .text("a"))
        let client = HTTPClient(transport, try .basic(for: [origin], user: user, password: password))
        _ = try await client.get("https://a.example/")
        #expect(transport.requests.first?.head.headerFields[.authorization] == "Basic \(encoded)")
    }

    @Test func onlyItsOriginsGetIt() async throws {
        transport.respond { _ in .text("a") }
        let client = HTTPClient(
            transport, try .basic(for: [origin, "http://b.example:8080"], user: "u", password: "p"))
        for url in [
            "https://a.example/x", "https://a.example:443/", "http://b.example:8080/", "http://a.example/",
            "https://a.example:8443/", "https://sub.a.example/", "https://b.example:8080/",
        ] { _ = try await client.get(url) }
        let isSent = transport.requests.map { $0.head.headerFields[.authorization] != nil }
        #expect(isSent == [true, true, true, false, false, false, false])
    }

    @Test func redirectsToOtherOriginsAndBackGoWithout() async throws {
        transport.answer("https://a.example/", .redirect(to: "/2"))
        transport.answer("https://a.example/2", .redirect(to: "https://b.example/"))
        transport.answer("https://b.example/", .redirect(to: "https://a.example/3"))
        transport.answer("https://a.example/3", .text("a"))
        _ = try await HTTPClient(transport, try .basic(for: [origin], user: "u", password: "p")).get(
            "https://a.example/")
        #expect(transport.requests.map { $0.head.headerFields[.authorization] != nil } == [true, true, false, false])
    }

    @Test func aRequestsOwnCredentialStays() async throws {
        transport.answer("https://a.example/", .text("a"))
        let client = HTTPClient(transport, try .basic(for: [origin], user: "u", password: "p"))
        _ = try await client.get("https://a.example/", headers: [.authorization: "Own x"])
        #expect(transport.requests.first?.head.headerFields[values: .authorization] == ["Own x"])
    }

    @Test func noConfigurationThatIsShownShowsTheCredential() throws {
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [
            try HTTPBasicAuthentication(for: [origin], user: "Aladdin", password: "open sesame")
        ]
        var text = "\(configuration) \(String(reflecting: configuration)) "
        dump(configuration, to: &text)
        #expect(text.contains(origin))
        #expect(!text.contains("QWxhZGRpbjpvcGVuIHNlc2FtZQ"))
    }

    @Test(arguments: [("a:b", "c"), ("a\n", "c"), ("a", "c\u{0}"), ("a", "\u{7F}"), ("a", "\u{85}")])
    func whatCannotBeSentIsAnError(_ user: String, _ password: String) {
        let error = #expect(throws: HTTPClientError.self) {
            try HTTPBasicAuthentication(for: ["https://a.example"], user: user, password: password)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("\(user):\(password)") == false)
    }

    @Test(arguments: [[], ["a.example"], ["https://a.example/x"], ["https://a.example/?q"], ["ftp://a.example"]])
    func whatIsNoOriginIsAnError(_ origins: [String]) {
        #expect(throws: HTTPClientError.self) { try HTTPBasicAuthentication(for: origins, user: "u", password: "p") }
    }
}
