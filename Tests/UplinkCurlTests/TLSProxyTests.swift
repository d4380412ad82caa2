// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// HTTPS through a proxy that is itself spoken to over TLS: one layer of TLS in another.
@Suite(
    .timeLimit(.minutes(1)), SharedNginx(),
    .enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed: apt install nginx-light openssl")
)
struct TLSProxyTests {
    /// Runs `body` with a proxy and a client that goes through it, and tries again what may be tried again.
    private func withProxy(
        certificates: FilePath, _ body: (TestProxy, TLSFront, HTTPClient) async throws -> Void
    ) async throws {
        let proxy = try TestProxy(.http)
        defer { proxy.stop() }
        let front = try TLSFront(to: proxy.port, certificates: certificates)
        defer { front.stop() }
        var transport = CurlTransport.Configuration()
        transport.trust = .authorities(certificates.appending("ca.pem"))
        transport.proxy = .always(try .init("https://127.0.0.1:\(front.port)"), except: [])
        var policy = HTTPRetryPolicy()
        policy.initialPause = .milliseconds(1)
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [.retry(policy)]
        try await withClient(configuration, transport: transport) { client, _ in try await body(proxy, front, client) }
    }

    @Test func eachRequestHasAConnectionToItself() async throws {
        let server = try #require(SharedNginx.server)
        try await withProxy(certificates: server.directory.path) { proxy, front, client in
            let url = server.url("/protocol", certificate: "good")
            for count in 1...2 {
                let response = try await client.get(url).collected(upTo: 100)
                #expect(response.body == Array("HTTP/1.1 http/1.1".utf8))
                #expect(front.connections == count)
            }
            let asked = "CONNECT 127.0.0.1:\(server.port(certificate: "good")) HTTP/1.1\r\n"
            #expect(proxy.seen.count == 2 && proxy.seen.allSatisfy { $0.hasPrefix(asked) }, "\(proxy.seen)")
        }
    }

    /// The answer fills one record of TLS, and what must not be there the next one, but both are in one record of the
    /// TLS to the proxy: libcurl has read that, and nobody can see what is left in it.
    @Test func whatComesBeyondTheEndIsNotTheNextAnswer() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try Certificates.make(in: directory)
        let answers = ["right", "wrong"].map { word in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Padding: "
            let padding = String(repeating: "x", count: 512 - head.utf8.count - 9)
            return "\(head)\(padding)\r\n\r\n\(word)"
        }
        #expect(answers.allSatisfy { $0.utf8.count == 512 })
        try await withServer([.readHead, .send(answers.joined()), .loop]) { origin in
            let server = try TLSFront(to: origin.port, certificates: directory.path, largestRecord: 512)
            defer { server.stop() }
            try await withProxy(certificates: directory.path) { _, _, client in
                for _ in 0..<3 {
                    let response = try await client.get("https://127.0.0.1:\(server.port)/").collected(upTo: 100)
                    #expect(response.body == Array("right".utf8))
                }
            }
            #expect(origin.heads.count == 3)
            #expect(server.connections == 3)
        }
    }

    /// All is in one record of the outer layer, so that nothing tells that there is more behind the ticket.
    @Test func aTicketRightBeforeTheAnswerHidesNothing() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await offPool { try Certificates.make(in: directory) }
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]) { origin in
            let server = try TLSFront(
                to: origin.port, certificates: directory.path, tickets: 0, givesLateTickets: true)
            defer { server.stop() }
            try await withProxy(certificates: directory.path) { _, _, client in
                for _ in 0..<5 {
                    let timeouts = HTTPTimeouts(firstByte: .seconds(5))
                    let response = try await client.get("https://127.0.0.1:\(server.port)/", timeouts: timeouts)
                    #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                }
            }
            #expect(origin.heads.count == 5)
        }
    }

    /// OpenSSL's reason is lost when libcurl tells the server why, through the TLS to the proxy; what remains looks
    /// like a connection that broke, which would be tried again.
    @Test(arguments: ["expired", "early", "other", "client", "self"])
    func aBadCertificateOfTheServerIsNoNetworkFailure(_ name: String) async throws {
        let server = try #require(SharedNginx.server)
        try await withProxy(certificates: server.directory.path) { proxy, front, client in
            let (error, _) = await failure { _ = try await client.get(server.url("/file", certificate: name)) }
            #expect(error?.message.contains("certificate") == true, "\(String(describing: error))")
            #expect(error?.message.contains("the proxy's certificate") == false)
            #expect(error?.isNetworkFailure == false)
            #expect(error?.phase == .tls && error?.requestDisposition == .notSent)
            #expect(error?.attempts == 1)
            #expect(proxy.seen.count == 1 && front.connections == 1)
        }
    }

    // MARK: Handshakes with the proxy

    private func error(
        through proxy: String, trusting authority: FilePath, to url: String
    ) async throws -> HTTPClientError? {
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(authority)
        configuration.minimumTLSVersion = .tls13
        configuration.proxy = .always(try .init(proxy), except: [])
        return try await withClient(transport: configuration) { client, _ in
            await failure { _ = try await client.get(url) }.error
        }
    }

    /// It is given none, and asking again changes nothing.
    @Test(arguments: ["http://origin.test/", "https://origin.test/"])
    func aProxyThatWantsACertificateIsARefusal(_ url: String) async throws {
        let proxy = try await offPool { try OpenSSLServer(["-Verify", "1", "-verify_return_error"]) }
        defer { proxy.stop() }
        let error = try await self.error(
            through: "https://127.0.0.1:\(proxy.port)", trusting: proxy.file("ca.pem"), to: url)
        #expect(error?.code == .proxyRefused && error?.isNetworkFailure == false, "\(String(describing: error))")
        #expect(error?.message.contains("the proxy wants a certificate") == true)
    }

    @Test(arguments: ["http://origin.test/", "https://origin.test/"])
    func aProxyWhoseHandshakeFailsIsNotTheServer(_ url: String) async throws {
        let server = try #require(SharedNginx.server)
        let old = try await offPool { try OpenSSLServer(["-tls1_2"]) }
        defer { old.stop() }
        let tooOld = try await error(
            through: "https://127.0.0.1:\(old.port)", trusting: old.file("ca.pem"), to: url)
        #expect(tooOld?.code == .tlsVersionUnsupported, "\(String(describing: tooOld))")
        #expect(tooOld?.message.contains("the proxy speaks no version") == true)
        try await withServer([.readSome(1), .close]) { closing in
            let closed = try await error(
                through: "https://127.0.0.1:\(closing.port)", trusting: server.authority, to: url)
            #expect(closed?.code == .proxyFailed && closed?.isNetworkFailure == true, "\(String(describing: closed))")
        }
        try await withServer([.readSome(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close]) { plain in
            let notTLS = try await error(
                through: "https://127.0.0.1:\(plain.port)", trusting: server.authority, to: url)
            #expect(notTLS?.code == .notTLS, "\(String(describing: notTLS))")
            #expect(notTLS?.message.contains("the proxy does not speak TLS") == true)
        }
    }
}
