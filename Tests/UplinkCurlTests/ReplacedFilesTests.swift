// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkHTTP

@testable import UplinkCurl

/// Authorities and identities that are replaced while a transport uses them, as those that live for a day are.
@Suite(
    .timeLimit(.minutes(1)), .serialized, SharedNginx(),
    .enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed: apt install nginx-light openssl")
)
struct ReplacedFilesTests {
    private let directory: TemporaryDirectory
    private let server: NginxServer

    init() throws {
        directory = try TemporaryDirectory()
        server = try #require(SharedNginx.server)
    }

    private func file(_ name: String) -> FilePath { directory.path.appending(name) }

    private func put(_ source: String, as name: String) throws {
        try directory.write(name, try server.directory.read(source))
    }

    private func who(_ client: HTTPClient) async throws -> String {
        let response = try await client.get(server.url("/who", certificate: "mutual"))
        return String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
    }

    /// The files are looked at once a second, by the real clock.
    private static let aWhile = Duration.milliseconds(1100)

    @Test func aNewCertificateIsUsedByNewRequests() async throws {
        defer { directory.remove() }
        for part in ["pem", "key"] { try put("client.\(part)", as: "own.\(part)") }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.authority)
        configuration.identity = .init(certificate: file("own.pem"), key: file("own.key"))
        try await withClient(transport: configuration) { client, _ in
            let before = try await who(client)
            for part in ["pem", "key"] { try put("second.\(part)", as: "own.\(part)") }
            try await Task.sleep(for: Self.aWhile)
            let after = try await who(client)
            #expect(before.hasPrefix("CN=client ") && after.hasPrefix("CN=second "), "\(before), then \(after)")
        }
    }

    @Test func anAuthorityThatIsRemovedIsNotTrustedAnyMore() async throws {
        defer { directory.remove() }
        try put("ca.pem", as: "trusted.pem")
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(file("trusted.pem"))
        try await withClient(transport: configuration) { client, _ in
            let url = server.url("/brief", certificate: "good")
            for _ in 0..<2 { _ = try await client.get(url).body.collect(upTo: 10) }
            try put("self.pem", as: "trusted.pem")
            try await Task.sleep(for: Self.aWhile)
            let (error, _) = await failure { _ = try await client.get(url) }
            #expect(error?.code == .certificateUntrusted, "\(String(describing: error))")
            try put("ca.pem", as: "trusted.pem")
            try await Task.sleep(for: Self.aWhile)
            let status = try await client.get(url).status
            #expect(status == .ok)
        }
    }

    /// To open it would block the loop until somebody writes.
    @Test func aPipeIsRefused() async throws {
        defer { directory.remove() }
        try #require(mkfifo(file("pipe").string, 0o600) == 0)
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(file("pipe"))
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get(server.url("/brief", certificate: "good")) }
            #expect(error?.code == .invalidConfiguration && error?.requestDisposition == .notSent)
            #expect(error?.message.contains("is a pipe") == true)
            let status = try await client.get(server.url("/brief")).status  // no authority is needed for that
            #expect(status == .ok)
        }
    }

    @Test func relativePathsAreThoseOfWhenTheTransportWasMade() throws {
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities("ca.pem")
        configuration.identity = .init(certificate: "/a/own.pem", key: "own.key")
        let settings = try EngineSettings(configuration)
        let here = FilePath(platformString: try #require(getcwd(nil, 0)))
        #expect(settings.configuration.trust == .authorities(here.appending("ca.pem")))
        guard case .pem(let certificate, let key) = settings.configuration.identity?.form else {
            Issue.record("the identity is another one")
            return
        }
        #expect(certificate == "/a/own.pem" && key == here.appending("own.key"))
    }
}
