// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

private let file = SharedNginx.file

/// A real server, over plain HTTP and TLS.
@Suite(
    .timeLimit(.minutes(1)), SharedNginx(),
    .enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed: apt install nginx-light openssl")
)
struct NginxTests {
    private func withNginx(
        trust: CurlTransport.Trust? = nil, _ body: (NginxServer, HTTPClient) async throws -> Void
    ) async throws {
        let server = try #require(SharedNginx.server)
        var transport = CurlTransport.Configuration()
        transport.trust = trust ?? .authorities(server.authority)
        try await withClient(transport: transport) { client, _ in try await body(server, client) }
    }

    @Test func filesComeOverHTTPAndTLS() async throws {
        try await withNginx { server, client in
            for url in [server.url("/file"), server.url("/file", certificate: "good")] {
                let body = try await client.get(url).body.collect(upTo: file.count)
                #expect(body == file)
                let head = try await client.head(url)
                #expect(head.body.contentLength == Int64(file.count))
            }
        }
    }

    @Test func statusesWithoutABodyAreWhole() async throws {
        try await withNginx { server, client in
            let empty = try await client.get(server.url("/empty"))
            #expect(empty.status == .noContent)
            #expect(try await empty.body.discard() == 0)
            let missing = try await client.get(server.url("/missing"))
            #expect(missing.status == .notFound)
            #expect(try await missing.body.discard() > 0)
        }
    }

    @Test func redirectsAreFollowedToTheirEnd() async throws {
        try await withNginx { server, client in
            let target = server.url("/file", certificate: "good")
            let response = try await client.get(server.url("/go?\(target)"))
            #expect(response.url == target)
            #expect(response.redirects == [server.url("/go?\(target)")])
            #expect(try await response.body.collect(upTo: file.count) == file)
            let back = server.url("/file")
            let (error, _) = await failure { _ = try await client.get(server.url("/go?\(back)", certificate: "good")) }
            #expect(error?.code == .redirectForbidden)
        }
    }

    private func text(_ url: String, _ client: HTTPClient) async throws -> String {
        String(decoding: try await client.get(url).body.collect(upTo: 1000), as: UTF8.self)
    }

    /// HTTP/1.1 is all that is offered, also to a server that would rather speak HTTP/2.
    @Test func nothingButHTTP11IsSpoken() async throws {
        try await withNginx { server, client in
            let port = server.port(certificate: "good")
            let offer = "openssl s_client -connect 127.0.0.1:\(port) -alpn h2,http/1.1"
            let command = "\(offer) | grep -aq 'ALPN protocol: h2'"
            let directory = server.directory.path
            let status = try await offPool { try Spawn.run(["sh", "-c", command], in: directory) }
            try #require(status == 0, "the server does not offer HTTP/2")
            #expect(try await text(server.url("/protocol", certificate: "good"), client) == "HTTP/1.1 http/1.1")
            #expect(try await text(server.url("/protocol"), client) == "HTTP/1.1 ")
        }
    }

    @Test(arguments: [
        ("expired", HTTPClientError.Code.certificateExpired), ("early", .certificateNotYetValid),
        ("other", .certificateHostMismatch), ("client", .certificateWrongPurpose), ("self", .certificateSelfSigned),
    ])
    func badCertificatesAreToldApart(_ name: String, _ code: HTTPClientError.Code) async throws {
        try await withNginx { server, client in
            let (error, _) = await failure { _ = try await client.get(server.url("/file", certificate: name)) }
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.phase == .tls)
            #expect(error?.requestDisposition == .notSent)
            #expect(error?.isNetworkFailure == false)
        }
    }

    // MARK: A proxy that is spoken to over TLS, for which nginx will do: it takes whole URLs too

    private func throughProxy(_ name: String, _ body: (HTTPClient) async throws -> Void) async throws {
        let server = try #require(SharedNginx.server)
        var transport = CurlTransport.Configuration()
        transport.trust = .authorities(server.authority)
        transport.proxy = .always(try .init("https://127.0.0.1:\(server.port(certificate: name))"), except: [])
        try await withClient(transport: transport) { client, _ in try await body(client) }
    }

    @Test func aProxyMayBeSpokenToOverTLS() async throws {
        try await throughProxy("good") { client in
            let body = try await client.get("http://origin.test/file").body.collect(upTo: file.count)
            #expect(body == file)
        }
    }

    @Test(arguments: [
        ("expired", HTTPClientError.Code.certificateExpired), ("early", .certificateNotYetValid),
        ("other", .certificateHostMismatch), ("client", .certificateWrongPurpose), ("self", .certificateSelfSigned),
    ])
    func badCertificatesOfProxiesAreToldApart(_ name: String, _ code: HTTPClientError.Code) async throws {
        try await throughProxy(name) { client in
            for url in ["http://origin.test/file", "https://origin.test/file"] {
                let (error, _) = await failure { _ = try await client.get(url) }
                #expect(error?.code == code, "\(String(describing: error))")
                #expect(error?.message.contains("proxy") == true)
                #expect(error?.requestDisposition == .notSent)
            }
        }
    }

    @Test func anUnknownAuthorityIsNotTrusted() async throws {
        try await withNginx(trust: .system) { server, client in
            let (error, _) = await failure { _ = try await client.get(server.url("/file", certificate: "good")) }
            #expect(error?.code == .certificateUntrusted)
        }
    }

    @Test func aMissingAuthorityIsAWrongSetting() async throws {
        try await withNginx(trust: .authorities("/nonexistent")) { server, client in
            let (error, _) = await failure { _ = try await client.get(server.url("/file", certificate: "good")) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.requestDisposition == .notSent)
        }
    }

    @Test func sessionsAreResumedOnNewConnections() async throws {
        try await withNginx { server, client in
            let url = server.url("/resumed", certificate: "good")
            #expect(try await client.get(url).body.collect(upTo: 10) == Array(".".utf8))
            for _ in 0..<3 {
                let reused = try await client.get(url).body.collect(upTo: 10)
                #expect(reused == Array("r".utf8))
            }
        }
    }

    @Test func plainTextOnATLSPortIsNoHandshake() async throws {
        try await withNginx { server, client in
            let (error, _) = await failure {
                _ = try await client.get("https://127.0.0.1:\(server.port)/file")
            }
            #expect(error?.code == .notTLS)
            #expect(error?.phase == .tls)
        }
    }
}
