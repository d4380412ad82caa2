// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import UplinkCurl

@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    private func withProxy(
        _ kind: TestProxy.Kind, scheme: String, user: String? = nil, wanted: String? = nil, isRefusing: Bool = false,
        _ body: (TestProxy, RawServer, HTTPClient) async throws -> Void
    ) async throws {
        try await withServer(Self.answer) { server in
            let proxy = try TestProxy(kind, credentials: wanted, isRefusing: isRefusing)
            defer { proxy.stop() }
            var configuration = CurlTransport.Configuration()
            let mark = user.map { "\($0)@" } ?? ""
            configuration.proxy = .always(try .init("\(scheme)://\(mark)127.0.0.1:\(proxy.port)"), except: [])
            try await withClient(transport: configuration) { client, _ in try await body(proxy, server, client) }
        }
    }

    @Test func plainRequestsGoAsWholeURLs() async throws {
        try await withProxy(.http, scheme: "http", user: "u:p%40ss", wanted: "u:p@ss") { proxy, server, client in
            let body = try await client.get("http://origin.test:\(server.port)/a?b").body.collect(upTo: 2)
            #expect(body == Array("ok".utf8))
            #expect(proxy.seen.count == 1)
            #expect(proxy.seen[0].hasPrefix("GET http://origin.test:\(server.port)/a?b HTTP/1.1\r\n"))
            #expect(proxy.seen[0].contains("Proxy-Authorization: Basic"))
            #expect(server.heads.first?.hasPrefix("GET /a?b HTTP/1.1\r\n") == true)
        }
    }

    /// libcurl remembers with a connection whether its host has brackets, and here that connection is the proxy's.
    @Test(.disabled(if: LibCurl.refusesIPv6ThroughProxies, "this libcurl sends none for an IPv6 address"))
    func everyRequestOnAProxysConnectionNamesItsOwnHost() async throws {
        let hosts = ["[::1]:9", "origin.test:9", "192.0.2.1", "[::1]:9"]
        try await withServer(Self.answer) { proxy in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init(proxy.url()), except: [])
            try await withClient(transport: configuration) { client, _ in
                for host in hosts {
                    _ = try await client.get("http://\(host)/").body.collect(upTo: 2)
                    #expect(proxy.heads.last?.contains("\r\nHost: \(host)\r\n") == true)
                }
            }
            #expect(proxy.heads.count == hosts.count && proxy.connections.count == 1)
        }
    }

    @Test(.enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed"))
    func tunnelsAreAskedForByConnectAndTellTheServerNothing() async throws {
        let server = try await offPool { try NginxServer() }
        defer { server.stop() }
        let proxy = try TestProxy(.http, credentials: "u:p")
        defer { proxy.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(server.authority)
        configuration.proxy = .always(try .init("http://u:p@127.0.0.1:\(proxy.port)"), except: [])
        try await withClient(transport: configuration) { client, transport in
            let response = try await client.get(
                server.url("/file", certificate: "good"), headers: [.authorization: "Bearer of-the-server"])
            #expect(response.status == .ok)
            #expect(response.headerFields[HTTPField.Name("X-Of-The-Proxy")!] == nil)
            #expect(try await response.body.discard() > 0)
            let head = try #require(proxy.seen.first)
            #expect(head.hasPrefix("CONNECT 127.0.0.1:\(server.port(certificate: "good")) HTTP/1.1\r\n"))
            #expect(head.contains("Proxy-Authorization: Basic"))
            #expect(!head.contains("of-the-server"))
        }
    }

    /// Through SOCKS, because there the test's server sees all that the server of a tunnel sees.
    @Test(arguments: [("socks5h", true), ("socks5", false), ("socks4a", true)])
    func socksResolvesHereOrThere(_ scheme: String, _ isThere: Bool) async throws {
        let user = scheme == "socks4a" ? nil : "u:p"
        try await withProxy(.socks, scheme: scheme, user: user, wanted: user) { proxy, server, client in
            let host = isThere ? "origin.test" : "localhost"
            let body = try await client.get("http://\(host):\(server.port)/").body.collect(upTo: 2)
            #expect(body == Array("ok".utf8))
            // Newer versions of libcurl prefer ::1.
            let expected = isThere ? ["origin.test"] : ["127.0.0.1", "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1"]
            let wanted = expected.map { "\($0):\(server.port) resolved \(isThere ? "there" : "here")" }
            #expect(proxy.seen.count == 1 && wanted.contains(proxy.seen[0]), "\(proxy.seen)")
            #expect(server.heads.first?.lowercased().contains("proxy") == false)
        }
    }

    @Test func proxyAuthorizationIsTheTransportsOwn() async throws {
        try await withServer(Self.answer) { server in
            try await withClient { client, _ in
                let (error, _) = await failure {
                    _ = try await client.get(server.url(), headers: [.proxyAuthorization: "Basic eA=="])
                }
                #expect(error?.code == .invalidRequest)
            }
            #expect(server.connections.isEmpty)
        }
    }

    @Test(arguments: [("http", TestProxy.Kind.http), ("socks5h", .socks)])
    func wrongCredentialsAreTold(_ scheme: String, _ kind: TestProxy.Kind) async throws {
        try await withProxy(kind, scheme: scheme, user: "u:wrong", wanted: "u:p") { proxy, server, client in
            let (error, _) = await failure { _ = try await client.get("https://origin.test:\(server.port)/") }
            #expect(error?.code == .proxyRefused, "\(String(describing: error))")
            #expect(error?.phase == .connect)
            #expect(error?.requestDisposition == .notSent)
            #expect(error?.message.contains("127.0.0.1:\(proxy.port)") == true)
            #expect(error?.description.contains("wrong@") == false)
            #expect(server.connections.isEmpty)
        }
    }

    /// libcurl decodes percent signs where it is told a user and a password, which are not of a URL.
    @Test(arguments: [("http", TestProxy.Kind.http), ("socks5h", .socks)])
    func credentialsArriveAsTheyAre(_ scheme: String, _ kind: TestProxy.Kind) async throws {
        let proxy = try TestProxy(kind, credentials: "uü%41:p%%20é%zz")
        defer { proxy.stop() }
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]) { server in
            var configuration = CurlTransport.Configuration()
            let address = "\(scheme)://u%C3%BC%2541:p%25%2520%C3%A9%25zz@127.0.0.1:\(proxy.port)"
            configuration.proxy = .always(try .init(address), except: [])
            try await withClient(transport: configuration) { client, _ in
                let body = try await client.get("http://origin.test:\(server.port)/").body.collect(upTo: 2)
                #expect(body == Array("ok".utf8))
            }
        }
    }

    /// libcurl decodes them again for the connection that it makes in the place of one that has died.
    @Test(arguments: [("http", TestProxy.Kind.http), ("socks5h", .socks)])
    func credentialsArriveAsTheyAreOnAnotherConnection(_ scheme: String, _ kind: TestProxy.Kind) async throws {
        let proxy = try TestProxy(kind, credentials: "us%41er:p%41%25ss")
        defer { proxy.stop() }
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await withServer([.readHead, .send(answer), .readHead, .close]) { server in
            var configuration = CurlTransport.Configuration()
            let address = "\(scheme)://us%2541er:p%2541%2525ss@127.0.0.1:\(proxy.port)"
            configuration.proxy = .always(try .init(address), except: [])
            try await withClient(transport: configuration) { client, _ in
                for _ in 0..<3 {
                    let response = try await client.get("http://origin.test:\(server.port)/")
                    #expect(response.status == .ok)
                    #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                }
            }
            #expect(proxy.seen.count == 3)
        }
    }

    /// Behind a SOCKS proxy it is the server's own, which libcurl would answer.
    @Test(arguments: [HTTPRequest.Method.get, .post]) func a407BehindSOCKSIsAnAnswer(
        _ method: HTTPRequest.Method
    ) async throws {
        let answer = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nno"
        let proxy = try TestProxy(.socks, credentials: "u:p")
        defer { proxy.stop() }
        try await withServer([.readHead, .send(answer), .loop]) { server in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("socks5h://u:p@127.0.0.1:\(proxy.port)"), except: [])
            try await withClient(transport: configuration) { client, _ in
                let request = try HTTPRequest(parsing: "http://origin.test:\(server.port)/", method: method)
                let response = try await client.execute(request)
                #expect(response.status.code == 407)
                #expect(try await response.body.collect(upTo: 2) == Array("no".utf8))
            }
            #expect(server.heads.count == 1)
        }
    }

    /// It is the proxy's, like the rest of what it says instead of connecting.
    @Test(arguments: ["T: u", "HTTP/1.1 204 N: x"])
    func aTrailerOfARefusalIsNoAnswerOfTheServers(_ trailer: String) async throws {
        let refusal = "HTTP/1.1 407 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\(trailer)\r\n\r\n"
        try await withServer([.readHead, .send(refusal)]) { proxy in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("http://127.0.0.1:\(proxy.port)"), except: [])
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.post("https://any.test/", body: .text("x")) }
                #expect(error?.code == .proxyRefused, "\(String(describing: error))")
                #expect(error?.requestDisposition == .notSent)
            }
        }
    }

    /// libcurl would read it without a pause, and hold up everything else on the loop.
    @Test(arguments: ["Content-Length: 100000000000", "Transfer-Encoding: chunked"])
    func whatComesWithARefusalIsNotRead(_ field: String) async throws {
        let size = 20_000_000
        let script: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 407 No\r\n\(field)\r\n\r\n1312d00\r\n"), .fill(size),
        ]
        try await withServer(script) { proxy in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("http://127.0.0.1:\(proxy.port)"), except: [])
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get("https://any.test/") }
                #expect(error?.code == .proxyRefused, "\(String(describing: error))")
                #expect(error?.requestDisposition == .notSent)
                #expect(proxy.connections.allSatisfy { $0.filled < size })
            }
        }
    }

    /// Nobody has refused anything, and it may be tried again.
    @Test(
        arguments: [
            // The proxy closes the connection; it would go on, but the name cannot be resolved here.
            ("socks5h", "192.0.2.1", [.close], .proxyFailed, .connect),
            ("socks5", "nobody.invalid", [.send([5, 0]), .waitForClose], .dnsFailed, .dns),
        ] as [(String, String, [RawServer.Step], HTTPClientError.Code, HTTPClientError.Phase)])
    func aFailureOfSOCKSThatIsNoRefusalIsANetworkFailure(
        _ scheme: String, _ host: String, _ answer: [RawServer.Step], _ code: HTTPClientError.Code,
        _ phase: HTTPClientError.Phase
    ) async throws {
        try await withServer([.readSome(3)] + answer) { proxy in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("\(scheme)://127.0.0.1:\(proxy.port)"), except: [])
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get("http://\(host)/") }
                #expect(error?.code == code && error?.isNetworkFailure == true, "\(String(describing: error))")
                #expect(error?.phase == phase)
            }
        }
    }

    /// The network is out beyond the proxy, or the server is being restarted, as a proxy says it.
    @Test(
        arguments: [502, 503, 504].map { (scheme: "http", answer: Array("HTTP/1.1 \($0) No\r\n\r\n".utf8)) }
            + [3, 4, 5, 6].map { (scheme: "socks5h", answer: [5, 0, 5, $0, 0, 1, 0, 0, 0, 0, 0, 0]) })
    func aServerThatTheProxyCannotReachIsANetworkFailure(_ scheme: String, _ answer: [UInt8]) async throws {
        try await withServer([.send(answer), .waitForClose]) { proxy in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("\(scheme)://127.0.0.1:\(proxy.port)"), except: [])
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get("https://origin.test/") }
                #expect(error?.code == .proxyFailed && error?.isNetworkFailure == true, "\(String(describing: error))")
                #expect(error?.requestDisposition == .notSent)
            }
        }
    }

    @Test func theProxysOwnNameMayHaveAddresses() async throws {
        let proxy = try TestProxy(.http)
        defer { proxy.stop() }
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]) { server in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("http://proxy.test:\(proxy.port)"), except: [])
            configuration.resolve = ["proxy.test:*": [try #require(IPAddress("127.0.0.1"))]]
            try await withClient(transport: configuration) { client, _ in
                let body = try await client.get("http://origin.test:\(server.port)/").body.collect(upTo: 2)
                #expect(body == Array("ok".utf8))
            }
        }
    }

    @Test(arguments: [("http", TestProxy.Kind.http), ("socks5h", .socks), ("socks4a", .socks)])
    func refusalsAreTold(_ scheme: String, _ kind: TestProxy.Kind) async throws {
        try await withProxy(kind, scheme: scheme, isRefusing: true) { proxy, server, client in
            let (error, _) = await failure { _ = try await client.get("https://origin.test:\(server.port)/") }
            #expect(error?.code == .proxyRefused, "\(String(describing: error))")
            #expect(error?.isNetworkFailure == false)
            #expect(error?.message.contains("\(scheme)://127.0.0.1:\(proxy.port)") == true)
        }
    }

    @Test(arguments: ["http", "socks5"]) func aProxyThatIsNotThereIsTold(_ scheme: String) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .always(try .init("\(scheme)://127.0.0.1:1"), except: [])
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get("http://192.0.2.1/") }
            #expect(error?.code == .proxyFailed, "\(String(describing: error))")
            #expect(error?.isNetworkFailure == true)
            #expect(error?.message.contains("127.0.0.1:1") == true)
        }
    }

    @Test func theProxysNameMayBeUnknown() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .always(try .init("http://proxy.invalid:1"), except: [])
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get("http://192.0.2.1/") }
            #expect(error?.code == .proxyFailed, "\(String(describing: error))")
            #expect(error?.phase == .dns)
        }
    }

    @Test func exceptionsGoDirectly() async throws {
        try await withServer(Self.answer) { server in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("http://127.0.0.1:1"), except: ["127.0.0.0/8"])
            try await withClient(transport: configuration) { client, _ in
                let status = try await client.get(server.url()).status
                #expect(status == .ok)
            }
        }
    }
}
