// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkHTTP

@testable import UplinkCurl

/// Which transfers have a server in common.
@Suite(.timeLimit(.minutes(1)))
struct OriginsTests {
    private func url(_ text: String) throws -> HTTPURL { try HTTPRequest(parsing: text).checkedURL() }

    @Test func aServerIsTheSameForAllItsURLs() throws {
        var origins = Origins(try EngineSettings(.init()))
        let origin = origins.origin(of: try url("http://a.test/"))
        #expect(origin.text == "http://a.test:80")
        #expect(origins.origin(of: try url("http://a.test:80/b?c")) === origin)
        for other in ["https://a.test/", "http://a.test:81/", "http://b.test/"] {
            #expect(origins.origin(of: try url(other)) !== origin)
        }
        #expect(origins.origin(of: try url("http://a.test/c")) === origin)
    }

    /// libcurl's cache has a host once for each port.
    @Test func aLookupIsSharedByThoseWhoFindItInTheCache() throws {
        let settings = try EngineSettings(.init())
        func lookup(_ text: String) throws -> String? { settings.lookup(for: try url(text), through: nil) }
        #expect(try lookup("http://a.test/") == lookup("http://A.test:80/b"))
        #expect(Set(try ["http://a.test/", "https://a.test/", "http://b.test/"].map(lookup)).count == 3)
        #expect(try lookup("http://127.0.0.1/") == nil)
    }

    @Test(arguments: [
        ("socks5h://proxy.test:1080", "http://a.test/", "proxy.test:1080"),
        ("socks5://proxy.test:1080", "http://a.test/", "a.test:80"),
        ("socks5://proxy.test:1080", "http://127.0.0.1/", "proxy.test:1080"),
        ("socks5://127.0.0.2:1080", "http://127.0.0.1/", nil),
    ])
    func aProxysNameIsLookedUpToo(proxy: String, target: String, lookup: String?) throws {
        let settings = try EngineSettings(.init())
        #expect(settings.lookup(for: try url(target), through: try CurlTransport.Proxy(proxy)) == lookup)
    }

    @Test func serversAreForgottenBeforeTheyAreTooMany() throws {
        var origins = Origins(try EngineSettings(.init()))
        let all = try (0..<100).map { origins.origin(of: try url("http://a\($0).test/")) }
        let again = try (0..<100).reversed().map { origins.origin(of: try url("http://a\($0).test/")) }
        #expect(zip(all.reversed(), again).filter { $0 === $1 }.count <= Origins.maximumServers)
        #expect(all.last === again.first)
    }

    @Test func whoAsksOneServerTooManyStillFindsMostOfThem() throws {
        var origins = Origins(try EngineSettings(.init()))
        let names = (0...Origins.maximumServers).map { "http://a\($0).test/" }
        let all = try names.map { origins.origin(of: try url($0)) }
        // Each that is gone takes the place of another one.
        let found = try zip(all, names).count { origins.origin(of: try url($1)) === $0 }
        #expect(found >= Origins.maximumServers / 2)
    }
}
