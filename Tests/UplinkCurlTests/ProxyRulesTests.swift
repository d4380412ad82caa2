// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import UplinkCurl

/// Which proxy is for whom: without sockets.
@Suite(.timeLimit(.minutes(1)))
struct ProxyRulesTests {
    private func proxy(
        for url: String, _ rule: CurlTransport.ProxyRule = .fromEnvironment, _ environment: [String: String] = [:]
    ) throws -> String? {
        try ProxyRules(rule) { environment[$0] }.proxy(for: HTTPRequest(parsing: url).checkedURL())?.url
    }

    @Test func theEnvironmentIsReadWhereItIsAskedFor() throws {
        let environment = [
            "http_proxy": "a:1", "HTTP_PROXY": "evil:1", "https_proxy": "http://b:2",
            "no_proxy": "x.test, .y.test,\tt.test\nn.test",
        ]
        #expect(try proxy(for: "http://h.test/", .fromEnvironment, environment) == "http://a:1")
        #expect(try proxy(for: "https://h.test/", .fromEnvironment, environment) == "http://b:2")
        #expect(try proxy(for: "https://x.test/", .fromEnvironment, environment) == nil)
        #expect(try proxy(for: "https://z.y.test/", .fromEnvironment, environment) == nil)
        #expect(try proxy(for: "https://t.test/", .fromEnvironment, environment) == nil)
        #expect(try proxy(for: "https://n.test/", .fromEnvironment, environment) == nil)
        #expect(try proxy(for: "https://h.test/", .none, environment) == nil)
    }

    /// A CGI program's client sets `HTTP_PROXY` by a field `Proxy` (CVE-2016-5385 and others).
    @Test func capitalsAreNotBelievedForHTTP() throws {
        #expect(try proxy(for: "http://h.test/", .fromEnvironment, ["HTTP_PROXY": "evil:1"]) == nil)
        #expect(try proxy(for: "https://h.test/", .fromEnvironment, ["HTTPS_PROXY": "c:3"]) == "http://c:3")
        #expect(try proxy(for: "http://h.test/", .fromEnvironment, ["ALL_PROXY": "socks5h://d"]) == "socks5h://d:1080")
        #expect(
            try proxy(for: "http://h.test/", .fromEnvironment, ["ALL_PROXY": "d:1", "NO_PROXY": "h.test"]) == nil)
        #expect(try proxy(for: "http://h.test/", .fromEnvironment, ["http_proxy": ""]) == nil)
    }

    @Test func aWrongVariableIsNamed() {
        let error = #expect(throws: HTTPClientError.self) {
            try proxy(for: "http://h.test/", .fromEnvironment, ["all_proxy": "ftp://u:secret@x"])
        }
        #expect(error?.message.contains("all_proxy") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func exceptionsAreNamesAddressesAndNetworks() throws {
        let rule = CurlTransport.ProxyRule.always(
            try .init("p:1"),
            except: [
                "Example.COM", "*.star.test", "root.test.", "10.0.0.0/8", "192.0.2.7", "[2001:db8::1]",
                "2001:db8:1::/48",
            ])
        let direct = [
            "http://example.com/", "http://a.example.com/", "http://example.com./", "http://a.root.test/",
            "http://10.9.8.7/", "http://192.0.2.7/", "http://a.star.test/",
            "http://[2001:db8::1]/", "http://[2001:db8:1::9]/",
        ]
        for url in direct { #expect(try proxy(for: url, rule) == nil, "\(url)") }
        let others = [
            "http://badexample.com/", "http://11.0.0.1/", "http://192.0.2.8/", "http://[2001:db8::2]/",
            "http://10.example/",
        ]
        for url in others { #expect(try proxy(for: url, rule) == "http://p:1", "\(url)") }
        #expect(try proxy(for: "http://any/", .always(try .init("p:1"), except: ["*"])) == nil)
    }

    @Test(arguments: [
        "", "a.test:80", "10.0.0.0/33", "[::1]/128", "a.test;b", "a b", "http://a.test", "*a*", "*a.test", "5",
        ".0.0.1",
    ])
    func anExceptionThatExceptsNothingIsAnError(_ text: String) throws {
        let proxy = try CurlTransport.Proxy("p:1")
        #expect(throws: HTTPClientError.self) { try ProxyRules(.always(proxy, except: [text])) { _ in nil } }
        let environment = ["http_proxy": "p:1", "no_proxy": "\(text),b.test"]
        let rules = try ProxyRules(.fromEnvironment) { environment[$0] }
        #expect(rules.proxy(for: try HTTPRequest(parsing: "http://b.test/").checkedURL()) == nil)
    }

    @Test func proxiesAreReadFromURLs() throws {
        let proxy = try CurlTransport.Proxy("socks5://us%3Aer:pa%40ss@[2001:DB8::1]:9")
        #expect(proxy.kind == .socks5)
        #expect(proxy.host == "[2001:db8::1]" && proxy.port == 9)
        #expect(proxy.credentials == .init(user: "us:er", password: "pa@ss"))
        #expect(proxy.url == "socks5://[2001:db8::1]:9")
        #expect(try CurlTransport.Proxy("https://p/").port == 443)
        #expect(try CurlTransport.Proxy("p:80").port == 80)
        #expect(try CurlTransport.Proxy("p:080").port == 80)
        #expect(try CurlTransport.Proxy("[2001:db8::80]").port == 1080)
        #expect(try CurlTransport.Proxy("p").port == 1080)
    }

    @Test(arguments: [
        "", "ftp://p", "http://", "http://p/path", "http://p:99999", "u:%4@p", "u:%+1@p", "us%E9r@p", "http://a b:1",
        "p?q",
    ])
    func whatIsNoProxyIsAnError(_ text: String) {
        #expect(throws: HTTPClientError.self) { try CurlTransport.Proxy(text) }
    }

    @Test(arguments: [
        "http://us%3Aer:p@p", "https://us%3Aer@p", "http://user:p%00@p", "socks5://us%0Aer:p@p",
        "socks5h://u:\(String(repeating: "p", count: 256))@p",
    ])
    func credentialsThatCannotBeSentAreErrors(_ text: String) throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .always(try .init(text), except: [])
        #expect(throws: HTTPClientError.self) { try EngineSettings(configuration) }
        #expect(throws: HTTPClientError.self) {
            try ProxyRules(.fromEnvironment) { $0 == "https_proxy" ? text : nil }
        }
    }

    @Test func nothingThatShowsAConfigurationShowsThePassword() throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .always(try .init("http://user:secret@p"), except: [])
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(text.contains("user") && !text.contains("secret"), "\(text)")
        }
        configuration.identity = .init(certificate: "/c", key: "/k", password: "secret")
        let settings = try EngineSettings(configuration)
        #expect(settings.identityPassword?.text == "secret")
        var all = ""
        dump(settings, to: &all)
        #expect(all.contains("/k") && !all.contains("secret"), "\(all)")
    }

    @Test(arguments: ["", "eth0\0", "a b", "a:1", "if!eth0", "../eth0", "eth0123456789abc"])
    func whatIsNoInterfaceIsAnError(_ name: String) {
        var configuration = CurlTransport.Configuration()
        configuration.localEnd = .interface(name)
        #expect(throws: HTTPClientError.self) { try EngineSettings(configuration) }
    }

    @Test func settingsThatExcludeOneAnotherAreErrors() async throws {
        let rule = CurlTransport.ProxyRule.always(try .init("p:1"), except: [])
        var first = CurlTransport.Configuration()
        (first.proxy, first.publicAddressesOnly) = (rule, true)
        var second = CurlTransport.Configuration()
        (second.proxy, second.unixSocket) = (rule, "/tmp/socket")
        var third = CurlTransport.Configuration()
        (third.unixSocket, third.publicAddressesOnly) = ("/tmp/socket", true)
        for configuration in [first, second, third] {
            let (error, _) = await failure { try await withClient(transport: configuration) { _, _ in } }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
