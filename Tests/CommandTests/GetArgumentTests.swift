// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing
import Uplink

@testable import UplinkCommand

/// What `uplink get` makes of its words.
@Suite(.timeLimit(.minutes(1)))
struct GetArgumentTests {
    @Test(arguments: [
        ("/disk.iso", "disk.iso"), ("/a/b/film.webm?x=/y", "film.webm"), ("/a%20b", "a b"), ("/%C3%A4.txt", "ä.txt"),
        ("/100%25", "100%"), ("/.profile", ".profile"), ("/a+b", "a+b"), ("/...", "..."), ("/-rf", "-rf"),
    ])
    func theRemoteNameIsTheLastPartDecoded(target: String, name: String) throws {
        #expect(try RemoteName.name(ofTarget: target) == name)
    }

    @Test(arguments: [
        "/", "/a/", "/?a=b", "/.", "/..", "/%2e%2E", "/a%2Fb", "/..%2f..%2fetc%2fpasswd", "/%00", "/a%00b", "/a%0Ab",
        "/%1B[31m", "/a%7F", "/a%C2%85", "/%E2%80%AEgpj.exe", "/%FF", "/%C3", "/%", "/%4", "/%zz", "/%+1",
        "/" + String(repeating: "a", count: 256), "/-", "/%2D",
    ])
    func whatIsNoNameForAFileIsRefused(target: String) {
        #expect(throws: ValidationError.self) { try RemoteName.name(ofTarget: target) }
    }

    @Test(arguments: [("1", 1), ("500000", 500_000), ("2k", 2048), ("3M", 3 << 20), ("1g", 1 << 30), ("8T", 8 << 40)])
    func sizesHaveCurlsSuffixes(text: String, bytes: Int64) throws {
        #expect(try SizeArgument.parse(text) == bytes)
    }

    @Test(arguments: ["", "0", "-1", "k", "1.5k", "1kk", "99999999999T", "9223372036854775808", "٣"])
    func otherSizesAreRefused(text: String) { #expect(throws: ValidationError.self) { try SizeArgument.parse(text) } }

    @Test func aChecksumIsAnAlgorithmAndDigits() throws {
        let digits = String(repeating: "0aF9", count: 16)
        #expect(try ChecksumArgument.parse("sha256:\(digits)").expected?.prefix(2) == [0x0A, 0xF9])
        #expect(try ChecksumArgument.parse("SHA256:\(digits)").expected?.count == 32)
        for wrong in [digits, "md5:\(digits)", "sha256:", "sha256:\(digits)0", "sha256:\(digits.dropLast())x"] {
            #expect(throws: ValidationError.self) { try ChecksumArgument.parse(wrong) }
        }
    }

    @Test func timesAreShortForPeople() {
        #expect(Duration.seconds(0.44).taken == "0.4 s")
        #expect(Duration.seconds(17.4).taken == "17 s")
        #expect(Duration.seconds(125).taken == "2:05")
        #expect(Duration.seconds(-5).onTheClock == "0:00")
        #expect(Duration.seconds(86_400).onTheClock == "24:00:00")
        #expect(Duration.seconds(Int64.max).onTheClock == "999:59:59")
    }

    private func parse(_ words: String) throws -> GetCommand {
        try GetCommand.parse(words.split(separator: " ").map(String.init))
    }

    @Test(arguments: [
        ("http://a/e", "/e"), ("http://a/e?d=/", "/e?d=/"), ("http://a/e/", "/e/b.txt"), ("http://a/e/#x", "/e/b.txt"),
        ("http://a/e/?d=a", "/e/b.txt?d=a"), ("http://a", "/b.txt"), ("http://a:1?q", "/b.txt?q"),
    ])
    func aFilesNameIsAddedToAPathThatEndsInASlash(url: String, target: String) throws {
        let request = try parse("\(url) -T dir/b.txt").request.request(to: url)
        #expect(request.path == target)
    }

    @Test func filesStandInTheOrderOfTheURLs() throws {
        let named = try parse("http://a/x http://b/y -o 1 -o 2 --output-dir d")
        #expect(try named.files.paths(for: try named.urls) == ["d/1", "d/2"])
        let remote = try parse("-O http://a/x http://b/y?z")
        #expect(try remote.files.paths(for: try remote.urls) == ["x", "y"])
        let none = try parse("http://a/x")
        #expect(try none.files.paths(for: try none.urls) == [nil])
    }

    @Test(arguments: [
        "http://a/x http://b/y", "http://a/x http://b/y -o 1", "http://a/x -o 1 -o 2", "http://a/ -O",
        "-O -o x http://a/x",
        "http://a/x --skip-existing", "http://a/x --parallel 2", "-O http://a/x --parallel 0",
        "-O http://a/x --force --skip-existing", "-O http://a/x -v --no-resume", "-O http://a/x -i --max-filesize 5",
        "-o x -o y http://a/x http://b/y -d a", "-O http://a/x http://b/y --checksum sha256:00",
        "http://a/x --output-dir d", "http://a/x -O --max-filesize lots",
        "http://a/x -X CONNECT", "http://a/x -H Host:b", "http://a/x -H Content-Length:3 -d abc",
        "http://a/x -X TRACE -d a", "http://a/x -T a -T b", "http://a/x -u :secret",
        "http://a/x --unix-socket s --proxy http://b:1", "http://a/x -d a -d @b", "http://a/x -F a=@- -F b=@-",
    ])
    func whatDoesNotGoTogetherIsRefused(words: String) { #expect(throws: (any Error).self) { try parse(words) } }

    @Test(arguments: [
        "-O http://a/x http://b/x?y", "http://a/x http://b/x -o 1 -o ./1", "http://a/x http://a/x -O --output-dir d",
    ])
    func twoURLsWithTheSameFileAreRefused(words: String) throws {
        do {
            _ = try parse(words)
            Issue.record("it is taken")
        } catch {
            let message = GetCommand.message(for: error)
            for part in ["the file of both http://a/x and http://", "--output (-o)"] {
                #expect(message.contains(part), "\(message)")
            }
            #expect(GetCommand.exitCode(for: error) == .validationFailure)
        }
    }

    @Test(arguments: [
        "http://a/x -X PROPFIND -H Depth:1 -d @body", "http://a/x -X GET -d a", "http://a/x -I -H X-A:b",
        "http://a/x -X DELETE", "http://a/x -d a -d b", "http://a/x -u me",
    ])
    func whatCanBeSentIsTaken(words: String) throws { _ = try parse(words) }

    @Test func aNameThatEndsInASlashIsADirectory() {
        let failure = #expect(throws: CommandFailure.self) {
            try DownloadTarget("/tmp/uplink-no-such-directory/", replacingExisting: false)
        }
        #expect(failure?.description.contains("no directory") == true)
        let typed = #expect(throws: FilesError.self) {
            try LocalPath("/tmp/uplink-no-such-directory/").target(for: "a")
        }
        #expect(typed?.code == .localFile && typed?.message == failure?.description)
    }

    @Test func whoGivesAServerTimeGivesItTimeToSayNothing() throws {
        let long = Duration.seconds(600)
        let limited = try parse("http://a/x -m 600").connection.timeouts
        #expect(limited == HTTPTimeouts(firstByte: long, stall: long, total: long))
        let short = try parse("http://a/x -m 5").connection.timeouts
        #expect(short == HTTPTimeouts(total: .seconds(5)))
        let silent = try parse("http://a/x -m 600 --silence 90").connection.timeouts
        #expect(silent == HTTPTimeouts(firstByte: .seconds(90), stall: .seconds(90), total: long))
        let download = try parse("http://a/x -o f -m 600").connection.downloadTimeouts
        #expect(download == HTTPTimeouts(total: long))  // it goes on after a connection that says nothing
        let silentDownload = try parse("http://a/x -o f -m 600 --silence 90").connection.downloadTimeouts
        #expect(silentDownload == silent)
        let endless = try parse("http://a/x --silence inf").connection.timeouts
        #expect(endless.stall.map { $0 > .seconds(1_000_000) } ?? true)
    }

    @Test func noTimeIsNoLimit() throws {
        let command = try parse("http://a/x -m 0")
        #expect(command.connection.timeouts.total == nil && command.connection.limit == nil)
    }

    /// As curl(1) reads them.
    @Test func aFieldWithoutAValueIsNotSent() throws {
        let command = try parse("http://a/x --json {} -H Accept: -H User-Agent: -H X-A; -H X-B:")
        let fields = try command.request.request(to: "http://a/x").headerFields
        #expect(fields.map(\.name.canonicalName) == ["x-a", "accept"] && fields.allSatisfy(\.value.isEmpty))
        #expect(try command.request.isRemoved(.userAgent) && !command.request.isRemoved(.cookie))
    }

    @Test(arguments: [("http://a/d/", "/d/a%C3%A4b"), ("http://a/d", "/d")])
    func aFileThatIsSentIntoADirectoryKeepsItsName(url: String, path: String) throws {
        #expect(try parse("\(url) -T dir/aäb").request.request(to: url).path == path)
    }

    @Test(arguments: [
        ("http://a/x -o 1 -o 2", "more often than a URL"),
        ("http://bücher.invalid/", "xn--"), ("http://a/bücher", "percent-encoded"), ("http://me:secret@a/", "--user"),
    ])
    func aRefusalSaysWhatIsWrongInTheProgramsWords(words: String, reason: String) {
        let error = #expect(throws: (any Error).self) { try parse(words) }
        let message = error.map { GetCommand.fullMessage(for: $0) } ?? ""
        #expect(message.contains(reason) && !message.contains("secret"), "\(message)")
    }

    @Test(arguments: [
        ("http://10.1.2.3:3128", "a way to 10.1.2.3"), ("socks5h://[2001:db8::1]", "a way to 2001:db8::1"),
        ("socks5://proxy.example", "local network"),
    ])
    func throughAProxyTheWayToItIsNeeded(proxy: String, requirement: String) throws {
        for url in ["https://example.org/", "http://127.0.0.1/"] {
            let command = try parse("\(url) --proxy \(proxy)")
            let first = try #require(try command.urls.first)
            #expect(command.way(to: first)?.whole.description == requirement)
            let told = try parse("\(url) --for ipv6 --proxy \(proxy)")
            #expect(told.way(to: first)?.whole.description == "IPv6")
        }
    }

    /// A forwarder such as `ssh -D` runs while the network is away.
    @Test(arguments: ["http://127.0.0.1:3128", "socks5h://[::1]:1080", "socks4a://localhost"])
    func throughAProxyOnThisHostIsNeededWhatTheURLNeeds(proxy: String) throws {
        let needs: [(url: String, requirement: String?)] = [
            ("https://example.org/", "internet"), ("http://10.1.2.3/", "a way to 10.1.2.3"), ("http://127.0.0.1/", nil),
            ("http://[2001:db8::1]/", "a way to 2001:db8::1"),
        ]
        for (url, requirement) in needs {
            let command = try parse("\(url) --proxy \(proxy)")
            let first = try #require(try command.urls.first)
            #expect(command.way(to: first)?.whole.description == requirement)
        }
    }

    /// The other family is of no use to an address, nor is the internet to one nearby.
    @Test(arguments: [
        ("http://203.0.113.1/", "a way to 203.0.113.1"), ("http://[2001:db8::1]:8080/a", "a way to 2001:db8::1"),
        ("http://[fd00::1]/", "a way to fd00::1"), ("http://169.254.169.254/", "a way to 169.254.169.254"),
        ("http://example.org/", "internet"), ("http://localhost/", nil), ("http://[::1]/", nil),
        ("http://App.localhost:8080/", nil), ("http://mylocalhost/", "internet"),
        ("http://0.0.0.0/", nil), ("http://[fe80::1]/", nil),  // the transport's to refuse, or this host
    ])
    func whatIsNeededIsAWayToTheAddress(url: String, requirement: String?) throws {
        let command = try parse(url)
        let first = try #require(try command.urls.first)
        #expect(command.way(to: first)?.whole.description == requirement)
    }

    @Test(arguments: [
        ("http://203.0.113.1/", "IPv4"), ("http://[2001:db8::1]/", "IPv6"), ("http://[fd00::1]/", "local network"),
        ("http://100.64.0.1/", "local network"), ("http://100.128.0.1/", "IPv4"), ("http://[::1]/", nil),
    ])
    func ofAPathForAllHostsTheFamilyIsNeeded(url: String, requirement: String?) throws {
        #expect(try URLArgument.parse(url).requirement?.description == requirement)
    }

    @Test func aPartOfAFormStandsApartFromItsLetter() throws {
        #expect(try parse("http://a/x -F a=b").request.form == ["a=b"])
        #expect(throws: (any Error).self) { try parse("http://a/x -Fa=b") }
    }

    @Test func aValueMayBeJoinedToItsLetter() throws {
        let command = try parse("http://a/x -XPOST -oname -d@f -uuser:pw -m5 -Hname:x -xhttp://b:1")
        #expect(command.request.method == "POST" && command.files.output == ["name"])
        #expect(command.request.data == ["@f"] && command.request.user == "user:pw")
        #expect(command.request.headers == ["name:x"])
        #expect(command.connection.maxTime == 5 && command.connection.proxy == "http://b:1")
        #expect(try parse("http://a/x -T-").request.upload == "-")
    }
}
