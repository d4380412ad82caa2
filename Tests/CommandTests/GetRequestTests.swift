// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkCommand

/// What `uplink get` sends, as its options say.
@Suite(.timeLimit(.minutes(2)))
struct GetRequestTests {
    /// A request as it came.
    private struct Seen: Sendable {
        var method = ""
        var fields: [String: String] = [:]
        var body: [UInt8] = []
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// A server's control characters are a terminal's commands.
    @Test func whatAServerSaysIsNoCommandToTheTerminal() async throws {
        let head = "HTTP/1.1 200 OK\r\nX-A: a\u{1B}]0;owned\u{7}\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer([.readHead, .send(head), .close])
        defer { server.stop() }
        let told = try await BuiltProgram.run("get -v \(server.url())")
        #expect(told.status == 0 && told.errors.contains("< X-A: a\u{FFFD}]0;owned\u{FFFD}\n"), "\(told.errors)")
        let piped = try await BuiltProgram.run("get -I \(server.url())")
        #expect(piped.output.contains("\nX-A: a\u{1B}]0;owned\u{7}\r\n"))
        let shown = try RunningProgram(
            [BuiltProgram.path, "get", "-I", server.url()], terminal: TerminalDimensions(columns: 80, rows: 24))
        try await shown.wait()
        #expect(shown.output.contains("X-A: a\u{FFFD}]0;owned\u{FFFD}"))
    }

    @Test(arguments: ["Content-Length: 3", "Transfer-Encoding: x", "Content-Length: 3\r\nContent-Encoding: x"])
    func whatAnErrorQuotesIsNoCommandToTheTerminal(fields: String) async throws {
        let server = try RawServer(
            [.readHead, .send("HTTP/1.1 200 OK\r\n\(fields)\u{1B}]0;owned\u{7}\r\n\r\nabc"), .close])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for words in ["", " -o \(directory.path)/file"] {
            let program = try await BuiltProgram.run("get --retry 0 \(server.url())\(words)")
            #expect(!program.errors.contains("\u{1B}") && !program.errors.contains("\u{7}"), "\(program.errors)")
            // So the library quotes it already, for others who log its errors.
            if words.isEmpty { #expect(program.errors.contains("?]0;owned"), "\(program.errors)") }
        }
    }

    /// Runs `uplink get` with these words and the URL of a server that keeps what it is asked.
    private func get(
        _ words: String, path: String = "/", input: [UInt8]? = nil, expecting status: Int32 = 0
    ) async throws -> (seen: [Seen], program: RunningProgram) {
        let seen = Locked<[Seen]>([])
        var routes = RoutedHTTPHandler()
        routes.appendRoute("GET,HEAD,POST,PUT,PATCH,DELETE /*") { request in
            var one = Seen(method: request.method.rawValue, body: Array(try await request.bodyData))
            for (name, value) in request.headers { one.fields[name.rawValue.lowercased()] = value }
            let count = seen.withLock { seen in
                seen.append(one)
                return seen.count
            }
            if request.path == "/busy", count == 1 { return HTTPResponse(statusCode: .serviceUnavailable) }
            return HTTPResponse(statusCode: .ok, headers: [.contentType: "text/plain"], body: Data("answer".utf8))
        }
        let program = try await HTTPServer.running(at: .inet(ip4: "127.0.0.1", port: 0), routes) { address in
            let command = "get http://\(try #require(address.authority))\(path) \(words)"
            guard let input else { return try await BuiltProgram.run(command) }
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try directory.write("input", input)
            let line = "exec \(BuiltProgram.path) \(command) <\(directory.path)/input"
            let program = try RunningProgram(["/bin/sh", "-c", line])
            try await program.wait()
            return program
        }
        #expect(program.status == status, "\(program.errors)")
        return (seen.withLock { $0 }, program)
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("file", bytes)
        try await body("\(directory.path)/file")
    }

    @Test(arguments: [
        ("", "GET"), ("-X DELETE", "DELETE"), ("-I", "HEAD"), ("--data a=b", "POST"), ("--json {}", "POST"),
        ("-F a=b", "POST"), ("-X PATCH -d x", "PATCH"), ("--request PUT", "PUT"),
    ])
    func theMethodIsTheOneNamedOrImplied(words: String, method: String) async throws {
        #expect(try await get(words).seen.map(\.method) == [method])
    }

    @Test func fieldsAreSentAsTheyAreGiven() async throws {
        let seen = try await get("-H X-One:1 --header=X-Two:two").seen
        #expect(seen.first?.fields["x-one"] == "1")
        #expect(seen.first?.fields["x-two"] == "two")
    }

    @Test func dataIsAForm() async throws {
        let seen = try await get("-d a=1 --data b=2").seen
        #expect(seen.first?.text == "a=1&b=2")
        #expect(seen.first?.fields["content-type"] == "application/x-www-form-urlencoded")
        #expect(seen.first?.fields["content-length"] == "7")
    }

    @Test func jsonIsSentAndAskedFor() async throws {
        let seen = try await get("--json {\"a\":1}").seen
        #expect(seen.first?.text == "{\"a\":1}")
        #expect(seen.first?.fields["content-type"] == "application/json")
        #expect(seen.first?.fields["accept"] == "application/json")
    }

    @Test func filesAreSentWhole() async throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withFile(bytes) { path in
            let put = try await get("--upload \(path)").seen
            #expect(put.first?.method == "PUT" && put.first?.body == bytes)
            #expect(put.first?.fields["content-length"] == "100000")
            let post = try await get("--data @\(path)").seen
            #expect(post.first?.method == "POST" && post.first?.body == bytes)
        }
    }

    @Test func theStandardInputIsSentInChunks() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let seen = try await get("-T -", input: bytes).seen
        #expect(seen.first?.body == bytes)
        #expect(seen.first?.fields["transfer-encoding"] == "chunked")
    }

    @Test(arguments: [("-d @-", "application/x-www-form-urlencoded"), ("--json @-", "application/json")])
    func dataMayBeTheStandardInput(words: String, type: String) async throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let seen = try await get(words, input: bytes).seen
        #expect(seen.first?.method == "POST" && seen.first?.body == bytes)
        #expect(seen.first?.fields["content-type"] == type)
        let form = try await get("-F f=@-", input: Array("contents".utf8)).seen
        let text = try #require(form.first?.text)
        #expect(text.contains("name=\"f\"; filename=\"-\"") && text.contains("\r\n\r\ncontents\r\n"))
    }

    @Test(arguments: [("-d @", "`@-`"), ("--json @", "`@-`"), ("-T ", "`-`"), ("-F f=@", "`f=@-`")])
    func aPipeIsNoFileAndItIsSaidWhatTakesIt(words: String, instead: String) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        #expect(mkfifo("\(directory.path)/pipe", 0o600) == 0)
        let (seen, program) = try await get("\(words)\(directory.path)/pipe", expecting: 1)
        #expect(seen.isEmpty && program.errors.contains("give \(instead)"), "\(program.errors)")
    }

    /// `</dev/fd/3` behind the command would be another pipe, or none.
    @Test(arguments: [("-d @/dev/stdin", "`@-`"), ("-T /dev/fd/0", "`-`"), ("-T /proc/self/fd/0", "`-`")])
    func aDescriptorIsToBePipedIn(words: String, instead: String) async throws {
        let line = "printf x | \(BuiltProgram.path) get http://127.0.0.1:1/ \(words)"
        let program = try RunningProgram(["/bin/sh", "-c", line])
        #expect(try await program.wait() == 1)
        #expect(program.errors.contains("pipe it in, and give \(instead)"), "\(program.errors)")
        #expect(!program.errors.contains("behind the command"))
    }

    @Test func aFormHasPartsAndFiles() async throws {
        try await withFile(Array("contents".utf8)) { path in
            let seen = try await get("-F name=value -F file=@\(path)").seen
            let type = try #require(seen.first?.fields["content-type"])
            #expect(type.hasPrefix("multipart/form-data; boundary="))
            let text = try #require(seen.first?.text)
            #expect(text.contains("name=\"name\"\r\n\r\nvalue\r\n"))
            #expect(text.contains("name=\"file\"; filename=\"file\""))
            #expect(text.contains("\r\n\r\ncontents\r\n"))
        }
    }

    @Test func aUserLogsIn() async throws {
        #expect(try await get("-u me:secret").seen.first?.fields["authorization"] == "Basic bWU6c2VjcmV0")
    }

    /// The prompt is the terminal's, and so is what is typed.
    @Test func aUserWithoutAPasswordIsAskedForIt() async throws {
        let seen = Locked<String?>(nil)
        let server = try RawServer([
            .answer { head in
                seen.withLock { $0 = head }
                return [.send("HTTP/1.1 204 No Content\r\n\r\n")]
            }
        ])
        defer { server.stop() }
        let asking = try BuiltProgram.start(
            "get -u me \(server.url())", terminal: TerminalDimensions(columns: 80, rows: 24))
        try await asking.waitForOutput("Password for me: ")
        try asking.type("secret\n")
        #expect(try await asking.wait() == 0, "\(asking.output)")
        #expect(!asking.output.contains("secret"))
        #expect(seen.withLock { $0?.contains("Basic bWU6c2VjcmV0") } == true)
        let program = try RunningProgram(
            ["/usr/bin/setsid", "--wait", BuiltProgram.path, "get", "-u", "me", server.url()])
        #expect(try await program.wait() == 1)
        #expect(program.errors.contains("give `--user user:password`"), "\(program.errors)")
    }

    @Test func whatIsBusyIsAskedAgain() async throws {
        #expect(try await get("--retry 2", path: "/busy").seen.count == 2)
        #expect(try await get("", path: "/busy", expecting: 1).seen.count == 1)
    }

    @Test func theHeadIsPrintedWhereItIsAskedFor() async throws {
        let head = try await get("-I").program.output
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n"))
        #expect(head.contains("Content-Length: 6\r\n"))
        let both = try await get("--include").program.output
        #expect(both.hasPrefix("HTTP/1.1 200 OK\r\n") && both.hasSuffix("\r\n\r\nanswer"))
    }

    @Test func theHeadGoesWhereTheBodyGoes() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        #expect(try await get("-i -o \(directory.path)/both").program.output.isEmpty)
        let both = String(decoding: try directory.read("both"), as: UTF8.self)
        #expect(both.hasPrefix("HTTP/1.1 200 OK\r\n") && both.hasSuffix("\r\n\r\nanswer"))
        #expect(try await get("-I -o \(directory.path)/head").program.output.isEmpty)
        let head = String(decoding: try directory.read("head"), as: UTF8.self)
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n"))
        #expect(directory.names == ["both", "head"])
    }

    @Test(arguments: [("-i", "why?"), ("-I", "")])
    func theHeadOfARefusalIsWrittenButToNoFile(option: String, body: String) async throws {
        let server = try RawServer(answering: "HTTP/1.1 404 Not Found\r\nX-A: b\r\nContent-Length: 4", body: body)
        defer { server.stop() }
        let program = try await BuiltProgram.run("get \(server.url()) \(option)")
        #expect(program.status == 1 && program.errors.contains("404"))
        #expect(program.output.hasPrefix("HTTP/1.1 404 Not Found\r\n") && program.output.contains("X-A: b\r\n"))
        #expect(program.output.hasSuffix("\r\n\r\n\(body)"))
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try await BuiltProgram.run("get \(server.url()) \(option) -o \(directory.path)/new")
        #expect(file.status == 1 && file.output.isEmpty && directory.names.isEmpty)
    }

    @Test func verboseTellsWhatHappensAndNoSecret() async throws {
        let program = try await get("-v -u me:secret -H X-One:1").program
        #expect(program.output == "answer")
        for line in ["> GET / HTTP/1.1", "> X-One: 1", "< HTTP/1.1 200 OK", "* Connected to 127.0.0.1:"] {
            #expect(program.errors.contains(line), "\(line)")
        }
        #expect(program.errors.contains("first byte") && program.errors.contains("received 6 bytes"))
        #expect(!program.errors.contains("bWU6"))
    }

    /// Each request with the fields that the client and libcurl add, its answer's head behind it, and the end at the
    /// end.
    @Test func verboseTellsOfEveryExchangeInItsOrder() async throws {
        let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
        let elsewhere = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"
        let server = try RawServer([busy, elsewhere, answer].flatMap { [.readHead, .send($0)] as [RawServer.Step] })
        defer { server.stop() }
        let program = try await BuiltProgram.run("get -v --retry 1 \(server.url("/a"))")
        #expect(program.output == "answer" && program.status == 0)
        let told = program.errors.split(separator: "\n").map(String.init)
        for (place, head) in server.connections.flatMap(\.heads).enumerated() {
            let sent = head.split(separator: "\r\n").map { "> \($0)" }
            let path = place < 2 ? "/a" : "/b"
            let start = told.indices.filter { told[$0] == "> GET \(path) HTTP/1.1" }[place % 2]
            #expect(Set(told[start...].prefix { $0.hasPrefix(">") }) == Set(sent))
        }
        let story = ["> GET", "* Conn", "< HTTP/1.1", "* No answer", "* Redirected", "* queue"]
        let order = told.compactMap { line in story.first { line.hasPrefix($0) } }
        let exchange = Array(story[..<3])
        #expect(order == exchange + [story[3]] + exchange + [story[4]] + exchange + [story[5]])
        #expect(told.last?.hasPrefix("* queue") == true)
    }

    @Test(arguments: [
        "-d a -F b=c", "-I -d a", "-X B@D", "-H nocolon", "-F nothing", "--proxy gopher://a/",
        "--retry -1", "--key k", "-X HEAD -o x", "-H A\u{1}B:c",
    ])
    func whatMakesNoSenseIsAUsageError(words: String) async throws {
        let (seen, program) = try await get(words, expecting: 64)
        #expect(seen.isEmpty)
        #expect(program.errors.hasPrefix("Error: "))
    }

    @Test func aFileThatIsNotThereIsOneLine() async throws {
        let (seen, program) = try await get("-T /none/at/all", expecting: 1)
        #expect(seen.isEmpty)
        #expect(program.errors.split(separator: "\n").count == 1)
        #expect(program.errors.contains("/none/at/all"))
    }

    /// Before the answer, and in its body; as it comes, and into a file.
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"])
    func aServerMaySayNothingForSoLong(answer: String) async throws {
        let server = try RawServer([.readHead, .send(answer), .waitForClose])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for target in ["-", "\(directory.path)/new --retry 0 --no-resume"] {
            let program = try await BuiltProgram.run("get \(server.url()) --silence 0.3 -o \(target)")
            #expect(program.status == 1 && program.errors.contains("Error: "), "\(program.errors)")
        }
        #expect(directory.names.isEmpty)
    }

    @Test func everythingMayTakeSoLong() async throws {
        let server = try RawServer([.readHead, .waitForClose])
        defer { server.stop() }
        let program = try await BuiltProgram.run("get \(server.url()) -m 0.3")
        #expect(program.status == 1)
        #expect(program.errors.contains("not finished within"))
    }
}
