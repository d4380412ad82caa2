// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import UplinkCurl

/// Identities, pins and versions.
@Suite(
    .timeLimit(.minutes(1)), .serialized, SharedNginx(),
    .enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed: apt install nginx-light openssl")
)
struct TLSTests {
    private func withNginx(
        _ change: (NginxServer, inout CurlTransport.Configuration) throws -> Void,
        _ body: (NginxServer, HTTPClient, CurlTransport) async throws -> Void
    ) async throws {
        let server = try #require(SharedNginx.server)
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.authority)
        try change(server, &configuration)
        try await withClient(transport: configuration) { client, transport in try await body(server, client, transport)
        }
    }

    private func who(_ server: NginxServer, _ client: HTTPClient) async throws -> String {
        let response = try await client.get(server.url("/who", certificate: "mutual"))
        return String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
    }

    /// Each of them has an alert to be read, which says that it has ended.
    @Test func connectionsThatTheServerHasEndedAreAllReplaced() async throws {
        try await withNginx { _, _ in
        } _: { server, client, _ in
            let url = server.url("/brief", certificate: "good")
            let count = 6  // one more than libcurl replaces for one request
            for _ in 0..<2 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<count {
                        group.addTask { _ = try await client.get(url).body.collect(upTo: 10) }
                    }
                    try await group.waitForAll()
                }
                try await Task.sleep(for: .milliseconds(1500))
            }
            #expect(try await client.get(url).body.collect(upTo: 10) == Array("brief".utf8))
        }
    }

    // MARK: Identities

    @Test(arguments: ["client.key", "client-locked.key", "client.p12"])
    func theClientSaysWhoItIs(_ key: String) async throws {
        try await withNginx { server, configuration in
            configuration.identity =
                if key.hasSuffix("p12") {
                    .init(pkcs12: server.file(key), password: "secret")
                } else {
                    .init(certificate: server.file("client.pem"), key: server.file(key), password: "secret")
                }
        } _: { server, client, _ in
            let answer = try await who(server, client)
            #expect(answer.hasPrefix("CN=client "), "\(answer)")
        }
    }

    @Test func thePasswordIsAskedForOnce() async throws {
        let asked = Locked(0)
        try await withNginx { server, configuration in
            let password: @Sendable () -> String = {
                asked.withLock { $0 += 1 }
                return "secret"
            }
            configuration.identity = .init(
                certificate: server.file("client.pem"), key: server.file("client-locked.key"), password: password())
        } _: { server, client, _ in
            for _ in 0..<3 { _ = try await who(server, client) }
        }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test(arguments: [("client-locked.key", "wrong"), ("client-locked.key", nil), ("nonexistent", nil)])
    func anIdentityThatCannotBeReadIsAWrongSetting(_ key: String, _ password: String?) async throws {
        try await withNginx { server, configuration in
            configuration.identity = .init(
                certificate: server.file("client.pem"), key: server.file(key), password: password)
        } _: { server, client, _ in
            let (error, _) = await failure { _ = try await who(server, client) }
            #expect(error?.code == .invalidConfiguration, "\(String(describing: error))")
            #expect(error?.requestDisposition == .notSent)
        }
    }

    @Test(arguments: [("-tls1_3", HTTPClientError.Code.clientCertificateRequired), ("-tls1_2", .tlsFailed)])
    func aServerThatWantsACertificateSaysSo(_ version: String, _ code: HTTPClientError.Code) async throws {
        let server = try await offPool { try OpenSSLServer(["-Verify", "1", "-verify_return_error", version]) }
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.file("ca.pem"))
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get(server.url()) }
            #expect(error?.code == code, "\(String(describing: error))")  // TLS 1.2 has no alert of its own for it
            #expect(error?.phase == .tls)
            #expect(error?.isNetworkFailure == false)
        }
        configuration.identity = .init(certificate: server.file("client.pem"), key: server.file("client.key"))
        try await withClient(transport: configuration) { client, _ in
            let status = try await client.get(server.url()).status
            #expect(status == .ok)
        }
    }

    /// The alert about one that has expired (`bygone`) comes under libcurl's code for a bad certificate of the server.
    @Test(arguments: ["-tls1_3", "-tls1_2"], ["self", "bygone"])
    func aRefusedCertificateIsTold(_ version: String, _ name: String) async throws {
        let server = try await offPool { try OpenSSLServer(["-Verify", "1", "-verify_return_error", version]) }
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.file("ca.pem"))
        configuration.identity = .init(certificate: server.file("\(name).pem"), key: server.file("\(name).key"))
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get(server.url()) }
            #expect(error?.code == .clientCertificateRefused, "\(String(describing: error))")
            #expect(error?.message.contains("client's certificate") == true)
            #expect(error?.phase == .tls)
            #expect(error?.isNetworkFailure == false)
        }
    }

    @Test func identitiesShareNoConnection() async throws {
        try await withNginx { server, configuration in
            configuration.identity = .init(certificate: server.file("client.pem"), key: server.file("client.key"))
        } _: { server, first, _ in
            var configuration = CurlTransport.Configuration()
            configuration.trust = .authorities(server.authority)
            configuration.identity = .init(certificate: server.file("second.pem"), key: server.file("second.key"))
            try await withClient(transport: configuration) { second, _ in
                var answers: [String] = []
                for _ in 0..<3 {
                    answers.append(try await who(server, first))
                    answers.append(try await who(server, second))
                }
                #expect(Set(answers).count == 2, "one connection for each: \(answers)")
                #expect(answers.enumerated().allSatisfy { $1.hasPrefix($0 % 2 == 0 ? "CN=client " : "CN=second ") })
            }
        }
    }

    // MARK: Pins, versions, trust

    private func pin(_ server: NginxServer, _ name: String) throws -> String {
        "sha256//" + String(decoding: try server.directory.read("\(name).pin"), as: UTF8.self)
    }

    @Test func aPinnedKeyIsAccepted() async throws {
        try await withNginx { server, configuration in
            configuration.pinnedKeys = [try pin(server, "other"), try pin(server, "good")]  // the next and the present
        } _: { server, client, _ in
            let status = try await client.get(server.url("/file", certificate: "good")).status
            #expect(status == .ok)
        }
    }

    @Test(arguments: [false, true]) func anotherKeyIsNot(_ acceptsAny: Bool) async throws {
        try await withNginx { server, configuration in
            configuration.pinnedKeys = [try pin(server, "other")]
            if acceptsAny {
                configuration.trust = .dangerouslyAcceptAnyCertificate
                configuration.warn = { _ in }
            }
        } _: { server, client, _ in
            let (error, _) = await failure { _ = try await client.get(server.url("/file", certificate: "good")) }
            #expect(error?.code == .certificatePinMismatch, "\(String(describing: error))")
            #expect(error?.phase == .tls)
            #expect(error?.requestDisposition == .notSent)
        }
    }

    @Test(arguments: [
        "", "sha256//short=", "sha256//" + String(repeating: ";", count: 43) + "=", "/etc/key.pem",
        "sha256//" + String(repeating: "A", count: 42) + "B=",  // the same digest as with A, in another spelling
    ])
    func aPinThatIsNoneIsAWrongSetting(_ pin: String) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.pinnedKeys = [pin]
        let (error, _) = await failure { try await withClient(transport: configuration) { _, _ in } }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(arguments: ["self", "other", "expired"]) func anyCertificateIsAcceptedWhereTheSettingSaysSo(
        _ name: String
    ) async throws {
        let warnings = Locked<[String]>([])
        try await withNginx { _, configuration in
            configuration.trust = .dangerouslyAcceptAnyCertificate
            configuration.warn = { warning in warnings.withLock { $0.append(warning) } }
        } _: { server, client, _ in
            for _ in 0..<2 {
                let status = try await client.get(server.url("/file", certificate: name)).status
                #expect(status == .ok)
            }
        }
        #expect(warnings.withLock { $0.count } == 1)
    }

    @Test func versionsThatAreTooOldAreTold() async throws {
        let server = try await offPool { try OpenSSLServer(["-tls1_1", "-cipher", "ALL@SECLEVEL=0"]) }
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.file("ca.pem"))
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get(server.url()) }
            #expect(error?.code == .tlsVersionUnsupported, "\(String(describing: error))")
            #expect(error?.phase == .tls)
            #expect(error?.requestDisposition == .notSent)
        }
    }

    @Test func theLeastVersionMayBeRaised() async throws {
        let server = try await offPool { try OpenSSLServer(["-tls1_2"]) }
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.file("ca.pem"))
        try await withClient(transport: configuration) { client, _ in
            let status = try await client.get(server.url()).status
            #expect(status == .ok)
        }
        configuration.minimumTLSVersion = .tls13
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get(server.url()) }
            #expect(error?.code == .tlsVersionUnsupported, "\(String(describing: error))")
        }
    }

    // MARK: Connections

    @Test func aStalledHandshakeIsAPhaseOfTLS() async throws {
        try await withServer([.waitForClose]) { server in
            try await withClient { client, _ in
                let (error, _) = await failure {
                    _ = try await client.get(
                        "https://127.0.0.1:\(server.port)/", timeouts: HTTPTimeouts(connect: .seconds(2)))
                }
                #expect(error?.code == .connectTimeout)
                #expect(error?.phase == .tls)
                #expect(error?.requestDisposition == .notSent)
            }
        }
    }

    /// By RST, or by the alert with which a server that shuts down ends what it has not begun (`close_notify`).
    @Test(
        arguments: [[.pause(.milliseconds(50)), .reset], [.send([21, 3, 3, 0, 2, 1, 0]), .close]] as [[RawServer.Step]])
    func aHandshakeThatBreaksIsANetworkFailure(_ end: [RawServer.Step]) async throws {
        try await withServer([.readSome(1)] + end) { server in
            try await withClient { client, _ in
                let (error, _) = await failure { _ = try await client.get("https://127.0.0.1:\(server.port)/") }
                #expect(error?.code == .connectionReset, "\(String(describing: error))")
                #expect(error?.phase == .tls)
                #expect(error?.isNetworkFailure == true)
                #expect(error?.requestDisposition == .notSent)
            }
        }
    }

    /// nginx is killed: the connection ends without `close_notify`, which libcurl does not tell before 8.14.1.
    @Test(arguments: [false, true]) func aCutConnectionIsNoCertainEnd(_ isStrict: Bool) async throws {
        let script: [RawServer.Step] = [.readHead, .send("HTTP/1.0 200 OK\r\n\r\nabc"), .waitForClose]
        try await withServer(script) { backend in
            let server = try await offPool { try NginxServer(backend: backend.port) }
            defer { server.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.trust = .authorities(server.authority)
            var limits = HTTPClient.Configuration()
            limits.limits.requiresFramedBodies = isStrict
            try await withClient(limits, transport: configuration) { client, _ in
                let url = server.url("/backend", certificate: "good")
                if isStrict {
                    let (error, _) = await failure { _ = try await client.get(url) }
                    #expect(error?.code == .unframedBody)
                    return
                }
                let response = try await client.get(url)
                #expect(response.body.framing == .untilClose)  // nobody can tell whether it is whole
                var bytes: [UInt8] = []
                var code: HTTPClientError.Code?
                do {
                    for try await chunk in response.body {
                        bytes += chunk.bytes
                        if bytes.count == 3 { server.kill() }
                    }
                } catch let error as HTTPClientError {
                    code = error.code
                }
                #expect(code == (LibCurl.tellsThatTLSWasCut ? .connectionReset : nil))
                #expect(bytes == Array("abc".utf8))
            }
        }
    }

    @Test func resumptionIsTold() async throws {
        try await withNginx { _, _ in
        } _: { server, _, transport in
            let url = server.url("/resumed", certificate: "good")
            var told: [Bool?] = []
            for _ in 0..<3 {
                let recorder = Recorder()
                _ = try await transport.get(url, recorder).body.discard()
                told.append(recorder.connection?.isTLSResumed)
                #expect(recorder.timings?.tls ?? .zero > .zero)
            }
            #expect(told == [false, true, true])
        }
    }

    /// OpenSSL does not look at the certificate again when it resumes one.
    @Test func sessionsAreNotResumedForEver() async throws {
        let age = Duration.seconds(2)
        try await withNginx { _, configuration in
            configuration.maximumSessionAge = age
        } _: { server, client, _ in
            let url = server.url("/resumed", certificate: "good")
            for expected in [".", "r"] {
                #expect(try await client.get(url).body.collect(upTo: 10) == Array(expected.utf8))
            }
            try await Task.sleep(for: age + .milliseconds(100))
            #expect(try await client.get(url).body.collect(upTo: 10) == Array(".".utf8))
        }
    }
}
