// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// HTTPS through proxies that see none of it.
@Suite(
    .timeLimit(.minutes(1)), SharedNginx(),
    .enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed: apt install nginx-light openssl")
)
struct ProxyTunnelTests {
    private func withProxy(
        _ kind: TestProxy.Kind, scheme: String, user: String? = nil, to server: NginxServer,
        _ body: (TestProxy, HTTPClient) async throws -> Void
    ) async throws {
        let proxy = try TestProxy(kind, credentials: user)
        defer { proxy.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.authority)
        let mark = user.map { "\($0)@" } ?? ""
        configuration.proxy = .always(try .init("\(scheme)://\(mark)127.0.0.1:\(proxy.port)"), except: [])
        try await withClient(transport: configuration) { client, _ in try await body(proxy, client) }
    }

    @Test(arguments: ["socks5h", "socks5", "socks4a"])
    func anHTTPSOriginIsReachedThroughSOCKS(_ scheme: String) async throws {
        let server = try #require(SharedNginx.server)
        let user = scheme == "socks4a" ? nil : "u:p"
        try await withProxy(.socks, scheme: scheme, user: user, to: server) { proxy, client in
            let response = try await client.get(server.url("/file", certificate: "good"))
            #expect(response.status == .ok)
            let body = try await response.body.collect(upTo: SharedNginx.file.count)
            #expect(body == SharedNginx.file)
            let seen = proxy.seen
            #expect(seen.count == 1)
            #expect(seen.first?.hasPrefix("127.0.0.1:\(server.port(certificate: "good")) ") == true, "\(seen)")
        }
    }

    @Test(arguments: [("http", TestProxy.Kind.http), ("socks5h", .socks)])
    func aTunnelDoesNotMakeABadCertificateGood(_ scheme: String, _ kind: TestProxy.Kind) async throws {
        let server = try #require(SharedNginx.server)
        try await withProxy(kind, scheme: scheme, to: server) { proxy, client in
            let (error, _) = await failure { _ = try await client.get(server.url("/file", certificate: "other")) }
            #expect(error?.code == .certificateHostMismatch, "\(String(describing: error))")
            #expect(error?.requestDisposition == .notSent)
            #expect(proxy.seen.count == 1)
        }
    }

    /// What the server gets is what nginx, which ends the TLS of the tunnel, passes on to a server of the test's.
    @Test func theProxysCredentialsAreForTheProxyAndTheServersForTheServer() async throws {
        try await withServer([.readHead, .send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")]) { origin in
            let server = try await offPool { try NginxServer(backend: origin.port) }
            defer { server.stop() }
            try await withProxy(.http, scheme: "http", user: "u:p", to: server) { proxy, client in
                let url = server.url("/backend", certificate: "good")
                let response = try await client.get(url, headers: [.authorization: "Bearer of-the-server"])
                #expect(response.status == .ok)
                let body = try await response.body.collect(upTo: 2)
                #expect(body == Array("ok".utf8))
                #expect(proxy.seen.count == 1)
                let asked = try #require(proxy.seen.first)
                #expect(asked.hasPrefix("CONNECT 127.0.0.1:\(server.port(certificate: "good")) HTTP/1.1\r\n"))
                #expect(asked.contains("Proxy-Authorization: Basic "))
                #expect(!asked.contains("of-the-server"))
            }
            #expect(origin.heads.count == 1)
            let head = try #require(origin.heads.first).lowercased()
            #expect(head.contains("\r\nauthorization: bearer of-the-server\r\n"))
            #expect(!head.contains("proxy"))
        }
    }
}
