// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP

/// What stands in the environment and in the home directory is nobody's order; in a process of its own, which has such
/// ones.
@Suite(.timeLimit(.minutes(1)))
struct ProxyEnvironmentTests {
    /// libcurl looks there for proxies and passwords by itself, on new handles and on those that were reset.
    @Test func theEnvironmentsProxiesAndTheHomesPasswordsAreNotBelieved() async throws {
        await #expect(processExitsWith: .success) {
            let home = try TemporaryDirectory()
            defer { home.remove() }
            let hosts = ["127.0.0.1", "127.0.0.1", "example.org", "127.0.0.1", "example.org"]
            let entries = Set(hosts).map { "machine \($0) login user password secret\n" }
            try home.write(".netrc", Array(entries.joined(separator: "").utf8))
            setenv("HOME", home.path.string, 1)
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:1", 1)
            }
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }  // would be exceptions
            let address = try #require(IPAddress("127.0.0.1"))
            try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .loop]) { server in
                var configuration = CurlTransport.Configuration()
                configuration.resolve["example.org:*"] = [address]
                try await withClient(transport: configuration) { client, _ in
                    for host in hosts {
                        let url = server.url("/a").replacing("127.0.0.1", with: host)
                        let response = try await client.get(url, headers: [.accept: "text/plain"])
                        if response.status != .ok { exit(2) }
                        _ = try await response.body.collect(upTo: 0)
                    }
                }
                let heads = server.heads
                if heads.count != hosts.count { exit(3) }
                for head in heads {
                    if !head.hasPrefix("GET /a HTTP/1.1\r\n") { exit(4) }
                    if head.lowercased().contains("authorization") { exit(5) }
                }
            }
        }
    }
}
