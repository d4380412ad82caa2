// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPURLTests {
    /// What stands before an `@`, wherever that is.
    @Test(arguments: ["http://user:pa#ss@host/", "http://user:p/ss@host/", "http://user:pa?ss@host/"])
    func aPasswordIsInNoMessage(_ text: String) {
        let error = #expect(throws: HTTPClientError.self) { try HTTPURLParser.parse(text) }
        let message = error?.message ?? ""
        #expect(!message.isEmpty && !message.contains("user:") && !message.contains("`p"), "\(message)")
    }

    @Test(arguments: [
        ("http://example.org", "http://example.org/"),
        ("HTTP://Example.ORG:80/A", "http://example.org/A"),
        ("https://example.org:443/", "https://example.org/"),
        ("https://example.org:/", "https://example.org/"),
        ("http://example.org:8080/a?b=c&d#e", "http://example.org:8080/a?b=c&d#e"),
        ("http://example.org?x", "http://example.org/?x"),
        ("http://127.0.0.1:1/%7Ea", "http://127.0.0.1:1/%7Ea"),
        ("http://[2001:DB8::0:1]:65535/", "http://[2001:db8::1]:65535/"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://a_b.example./x:y@z", "http://a_b.example./x:y@z"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
    ])
    func whatIsGoodIsReadAndNormalised(_ text: String, _ normal: String) throws {
        #expect(try HTTPURLParser.parse(text).text == normal)
    }

    @Test(arguments: [
        ("", "scheme"), ("example.org", "scheme"), ("/path", "scheme"), ("//example.org/", "scheme"),
        ("ftp://example.org/", "ftp"), ("file:///etc/passwd", "file"), ("javascript:alert(1)", "javascript"),
        ("http:", "host"), ("http:/path", "host"), ("http://", "empty host"), ("http:///path", "empty host"),
        ("http://:80/", "empty host"), ("http://user@example.org/", "Authorization"),
        ("http://user:secret@example.org/", "Authorization"), ("http://example.org:0/", "65535"),
        ("http://example.org:65536/", "65535"), ("http://example.org:8a/", "65535"),
        ("http://example.org:-1/", "65535"), ("http://example.org/a b", "percent"),
        ("http://example.org/\r\nHost: x", "control"), ("http://example.org/\u{0}", "control"),
        ("http://example.org/\u{7F}", "control"), ("http://example.org/ü", "percent"),
        ("http://bücher.example/", "xn--"),
        ("http://example.org/%", "hexadecimal"), ("http://example.org/%4", "hexadecimal"),
        ("http://example.org/%zz", "hexadecimal"), ("http://exa%6Dple.org/", "xn--"), ("http://[::1/", "]"),
        ("http://[::g]/", "IPv6"), ("http://[127.0.0.1]/", "IPv6"), ("http://[fe80::1%25eth0]/", "IPv6"),
        ("http://[::1]x/", "port"), ("http://a..b/", "labels"), ("http://-/[", "percent"),
        ("http://2130706433/", "IPv4"), ("http://0x7f.1/", "IPv4"), ("http://127.1/", "IPv4"),
        ("http://1.2.3.256/", "IPv4"), ("http://example.org/\"", "percent"), ("http://example.org\\@evil/", "percent"),
    ])
    func whatIsBadSaysWhatToDo(_ text: String, _ word: String) {
        let error = #expect(throws: HTTPClientError.self) { try HTTPURLParser.parse(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.requestDisposition == .notSent)
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: ["localhost:8080", "example.org:80/a", "127.0.0.1:8080/a?b"])
    func aHostWithItsPortIsNotCalledAScheme(text: String) {
        let error = #expect(throws: HTTPClientError.self) { try HTTPURLParser.parse(text) }
        #expect(error?.message.contains("has no scheme; begin with `https://`") == true)
    }

    @Test func longURLsAreRefused() {
        let text = "http://example.org/" + String(repeating: "a", count: 16 * 1024)
        #expect(throws: HTTPClientError.self) { try HTTPURLParser.parse(text) }
    }

    /// RFC 3986, section 5.4, as far as this client follows the results.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../../g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./g/.", "http://a/b/c/g/"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"), ("https://h:1/p", "https://h:1/p"),
        ("//user:pw@h/", "http://h/"),
    ])
    func referencesAreResolved(_ reference: String, _ result: String) throws {
        let base = try HTTPURLParser.parse("http://a/b/c/d;p?q")
        #expect(try HTTPURLParser.resolve(reference, against: base).text == result)
    }

    @Test func plainURLsAreReadAsTheParserReadsThem() throws {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "a", "b.c", "0", "1", "25", "255", "256", "0x1", ".", "..", "./", "/", "//", "/.", "-", "_", ":", ":1",
            ":80",
            ":443", ":65536", "/", "/a", "/b", "a", "b", "c", "?", "?q=1", "#", "@", "%2e", "%41", "[", "]", "A", "ü",
            " ", "!", "127.0.0.1", "é",
        ]
        var plain = 0
        for _ in 0..<50_000 {
            let scheme = ["http://", "https://", "HTTP://", "http:"][Int.random(in: 0..<4, using: &generator)]
            let text = (0..<Int.random(in: 1...7, using: &generator))
                .reduce(into: scheme) { text, _ in text += pieces.randomElement(using: &generator) ?? "" }
            guard let url = PlainURLReader.read(text) else { continue }
            plain += 1
            #expect(url == (try? HTTPURLParser.parseUnusual(text)), "\(text)")
        }
        #expect(plain > 200)
    }

    @Test(arguments: [
        "http://example.org/", "https://a-b.example.org:8443/c/d.e?f=g&h", "http://127.0.0.1:8080/small",
        "http://localhost/", "http://a/~b//c",
    ])
    func whatIsUsualIsReadTheShortWay(_ text: String) throws {
        #expect(PlainURLReader.read(text) == (try HTTPURLParser.parseUnusual(text)))
    }

    @Test func theParserTakesAnyBytesWithoutATrap() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "http", "s", ":", "/", "//", "[", "]", "@", "%", "41", ".", "..", "?", "#", "a", "0", "::", "ü", "\u{0}",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in pieces.randomElement() ?? "" }.joined()
            guard let url = try? HTTPURLParser.parse(text) else { continue }
            #expect((try? HTTPURLParser.parse(url.text)) == url, "\(text)")  // what is read is read again as the same
        }
    }

    @Test func requestsMadeByHandAreCheckedToo() {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/x#y")
        #expect(throws: HTTPClientError.self) { try request.checkedURL() }
        request = HTTPRequest(method: .get, scheme: nil, authority: "a", path: "/")
        #expect(throws: HTTPClientError.self) { try request.checkedURL() }
        request = HTTPRequest(method: .get, scheme: "http", authority: "a@b", path: "/")
        #expect(throws: HTTPClientError.self) { try request.checkedURL() }
    }

    /// Otherwise the request would go to another host, or ask for something else, than its parts say.
    @Test(arguments: [
        ("http", "a/b"), ("http", "a?b"), ("http", "a#b"), ("http://b/?", "a"), ("http:", "/a"), ("http", ""),
    ])
    func noPartOfARequestMadeByHandIsAPieceOfAnother(_ scheme: String, _ authority: String) {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/x")
        #expect(throws: HTTPClientError.self) { try request.checkedURL() }
    }
}
