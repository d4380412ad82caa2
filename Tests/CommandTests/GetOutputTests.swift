// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkCommand

/// What `uplink get` writes of an answer, where, and what `--verbose` says of it.
@Suite(.timeLimit(.minutes(2)))
struct GetOutputTests {
    /// Whoever asks whether a file has changed keeps it where it has not.
    @Test func whatIsNotModifiedLeavesTheFileAsItIs() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("kept", Array("old".utf8))
        let command = "get --force -o \(directory.path)/kept -H If-None-Match:\"x\""
        let server = try RawServer([.readHead, .send("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"), .close])
        defer { server.stop() }
        let unchanged = try await BuiltProgram.run("\(command) \(server.url())")
        #expect(unchanged.status == 0 && unchanged.errors.contains("not modified"))
        #expect(try directory.read("kept") == Array("old".utf8) && directory.names == ["kept"])
    }

    /// A terminal that says it takes something may not take everything, and then holds up who writes.
    @Test func oneSignalEndsItEvenIfTheTerminalTakesNothing() async throws {
        let lines = Array(String(repeating: "x\n", count: 1_000_000).utf8)
        let server = try RawServer([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(lines.count)\r\n\r\n"), .send(lines),
        ])
        defer { server.stop() }
        let program = try RunningProgram(
            [BuiltProgram.path, "get", server.url()], terminal: TerminalDimensions(columns: 80, rows: 24), isRead: false
        )
        try await eventually("it has asked") { !server.heads.isEmpty }
        try await Task.sleep(for: .seconds(1))  // until the terminal is full
        program.signal(SIGTERM)
        #expect(try await program.wait(upTo: .seconds(10)) == 128 + SIGTERM)
    }

    /// An answer that leads somewhere, and does not say where, is not the file that was asked for.
    @Test func whatIsNoFileIsNotWrittenToOne() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let server = try RawServer(answering: "HTTP/1.1 300 Multiple Choices\r\nContent-Length: 6", body: "choose")
        defer { server.stop() }
        let program = try await BuiltProgram.run("get -X POST -o \(directory.path)/new \(server.url())")
        #expect(program.status == 1 && program.errors.contains("300") && directory.names.isEmpty)
    }

    /// A file stands under its name only when it is whole; what ends with its connection may have broken off.
    @Test func aFileNeedsALengthAlsoBehindItsHead() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\n\r\npart"), .close])
        defer { server.stop() }
        let file = try await BuiltProgram.run("get -v -o \(directory.path)/new \(server.url())")
        #expect(file.status != 0 && directory.names.isEmpty)
        #expect(server.connections.first?.heads.first?.lowercased().contains("accept-encoding: identity") == true)
    }

    /// curl(1)'s way to ask for the head of what only a GET is answered.
    @Test func theHeadAloneIsWrittenWhateverTheMethod() async throws {
        let server = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 6", body: "answer")
        defer { server.stop() }
        let program = try await BuiltProgram.run("get -I -X GET \(server.url())")
        #expect(program.output == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n" && program.status == 0)
        #expect(server.connections.first?.heads.first?.hasPrefix("GET ") == true)
    }

    /// The version is the server's.
    @Test func anOldServersHeadIsWrittenAsItIs() async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"), .close])
        defer { server.stop() }
        #expect(try await BuiltProgram.run("get -i \(server.url())").output.hasPrefix("HTTP/1.0 200 OK\r\n"))
        #expect(try await BuiltProgram.run("get -v \(server.url())").errors.contains("< HTTP/1.0 200 OK\n"))
    }

    /// A signature that a server gives in a redirect is in no bug report.
    @Test func verboseHidesWhatServersPutIntoURLs() async throws {
        let elsewhere =
            "HTTP/1.1 302 Found\r\nLocation: /b?signature=s3cret\r\nContent-Location: /a#token=s3cret\r\n"
            + "Content-Length: 0\r\n\r\n"
        let named =
            "HTTP/1.1 302 Found\r\nLocation: /c\r\nContent-Location: http://me:s3cret@a/\r\nContent-Length: 0\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"
        let server = try RawServer([elsewhere, named, answer].flatMap { [.readHead, .send($0)] as [RawServer.Step] })
        defer { server.stop() }
        let program = try await BuiltProgram.run("get -v \(server.url("/a?mine=1"))")
        #expect(program.output == "answer" && program.errors.contains("> GET /a?mine=1 HTTP/1.1\n"))
        #expect(program.errors.contains("< Location: /b?…\n") && program.errors.contains("> GET /b?… HTTP/1.1\n"))
        #expect(!program.errors.contains("s3cret"), "\(program.errors)")
        #expect(server.connections.flatMap(\.heads).contains { $0.hasPrefix("GET /b?signature=s3cret ") })
    }

    /// What is told of a body's length is what goes out, or nothing.
    @Test func verboseSaysNothingUntrueOfALength() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("input", Array("four".utf8))
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try RawServer([.readHead, .send(answer), .close])
        defer { server.stop() }
        let file = try await BuiltProgram.run("get -v -T \(directory.path)/input \(server.url())")
        #expect(!file.errors.contains("> Transfer-Encoding") && !file.errors.contains("> Content-Length"))
        let empty = try await BuiltProgram.run("get -v -X POST \(server.url())")
        #expect(empty.errors.contains("> Content-Length: 0\n"))
        let known = try await BuiltProgram.run("get -v -d four \(server.url())")
        #expect(known.errors.contains("> Content-Length: 4\n"))
    }

    /// Where both go to one place, a head is there as a whole before its body begins.
    @Test func verboseTellsOfAHeadBeforeItsBody() async throws {
        let fields = (0..<40).map { "X-\($0): a\r\n" }.joined()
        let server = try RawServer([
            .readHead, .send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 6\r\n\r\nanswer"), .close,
        ])
        defer { server.stop() }
        for _ in 0..<10 {
            let program = try RunningProgram(
                ["/bin/sh", "-c", "exec \(BuiltProgram.path) get -v \(server.url()) 2>&1"])
            try await program.wait()
            let body = try #require(program.output.range(of: "answer"), "\(program.output)")
            let last = try #require(program.output.range(of: "< X-39: a"), "\(program.output)")
            #expect(last.upperBound < body.lowerBound)
        }
    }

    /// Also where it is a file, in which something stands already.
    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func aDescriptorsPathIsTheDescriptor(path: String) async throws {
        try await Site.with { site in
            let line = "{ echo first; \(BuiltProgram.path) get \(site.url)/file -o \(path); } >\(site.directory)/out"
            let program = try RunningProgram(["/bin/sh", "-c", line])
            #expect(try await program.wait() == 0, "\(program.errors)")
            #expect(site.file("out").map(Array.init) == Array("first\n".utf8) + Array(Site.body))
        }
    }

    @Test func aSocketThatIsNotThereIsNamed() async throws {
        let program = try await BuiltProgram.run("get --unix-socket /nope http://docker/")
        #expect(program.status == 1 && program.errors.contains("cannot connect to the socket `/nope`"))
    }

    @Test(arguments: [("--cacert", "check --cacert"), ("--cert", "check --cert")])
    func whatCannotBeReadIsNamedByItsOption(option: String, remedy: String) async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(option) /nope https://127.0.0.1:\(site.port)/")
            #expect(program.status == 1 && program.errors.contains(remedy), "\(program.errors)")
        }
    }
}
