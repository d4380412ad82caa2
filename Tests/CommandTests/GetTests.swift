// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkCommand

/// A server on the loopback interface, and a directory for what is fetched from it.
struct Site: Sendable {
    static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let port: UInt16
    let directory: String
    let requests: Locked<Int>

    var url: String { "http://127.0.0.1:\(port)" }
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? ["unreadable"] }
    func file(_ name: String) -> Data? { FileManager.default.contents(atPath: "\(directory)/\(name)") }

    static func with(_ body: (Site) async throws -> Void) async throws {
        let requests = Locked(0)
        var routes = RoutedHTTPHandler()
        routes.appendRoute("/file") { _ in
            requests.withLock { $0 += 1 }
            return HTTPResponse(statusCode: .ok, body: Self.body)
        }
        routes.appendRoute("/never") { _ in
            requests.withLock { $0 += 1 }
            try await Task.sleep(for: .seconds(60))
            return HTTPResponse(statusCode: .ok)
        }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("uplink-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await HTTPServer.running(at: .inet(ip4: "127.0.0.1", port: 0), routes) { address in
            guard case .ip4(_, let port) = address else { throw Missing("server that listens") }
            try await body(Site(port: port, directory: directory, requests: requests))
        }
    }
}

@Suite(.timeLimit(.minutes(2)))
struct GetTests {
    /// What the program opens would have the number otherwise, and be written, or read, in the output's place.
    @Test func aDescriptorThatIsClosedIsAnError() async throws {
        try await Site.with { site in
            func run(_ arguments: String) async throws -> (status: CInt, errors: String) {
                let program = try RunningProgram(["/bin/sh", "-c", "exec \(BuiltProgram.path) \(arguments)"])
                return (try await program.wait(), program.errors)
            }
            for arguments in ["get \(site.url)/file >&-", "get \(site.url)/file --upload - <&-"] {
                let (status, errors) = try await run(arguments)
                #expect(status == 1)
                #expect(errors.contains("Bad file descriptor"), "\(errors)")
            }
            let silent = try await run(
                "get \(site.url)/file \(site.url)/no -o \(site.directory)/a -o \(site.directory)/b 2>&-")
            #expect(silent.status == 1)
            #expect(site.file("a") == Site.body)
        }
    }

    @Test func theBodyGoesToTheStandardOutputAndNothingElseDoes() async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(site.url)/file")
            #expect(program.status == 0)
            #expect(Data(program.outputBytes) == Site.body)
            #expect(program.errors.isEmpty)
        }
    }

    @Test func aFileIsWholeHasItsNameAndUsualPermissions() async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(site.url)/file -o \(site.directory)/new")
            #expect(program.status == 0)
            #expect(site.file("new") == Site.body)
            #expect(site.files == ["new"])
            let mode = try FileManager.default.attributesOfItem(atPath: "\(site.directory)/new")[.posixPermissions]
            #expect(mode as? Int == 0o666 & ~Int(try Umask.current()))
        }
    }

    @Test func anExistingFileIsKeptUnlessForced() async throws {
        try await Site.with { site in
            let path = "\(site.directory)/old"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            let refused = try await BuiltProgram.run("get \(site.url)/file -o \(path)")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("--force"))
            #expect(site.file("old") == Data("mine".utf8))
            #expect(site.requests.withLock { $0 } == 0)
            let forced = try await BuiltProgram.run("get \(site.url)/file -o \(path) --force")
            #expect(forced.status == 0)
            #expect(site.file("old") == Site.body)
        }
    }

    @Test func aFileThatIsReplacedKeepsItsPermissions() async throws {
        try await Site.with { site in
            let path = "\(site.directory)/secret"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            chmod(path, 0o600)
            #expect(try await BuiltProgram.run("get \(site.url)/file -o \(path) --force").status == 0)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(arguments: ["/none/at/all/file", "/proc/uplink-file", "/tmp", "/tmp/", "/dev/null/file"])
    func anOutputThatCannotBeWrittenIsToldBeforeAnythingIsFetched(path: String) async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(site.url)/file -o \(path)")
            #expect(program.status == 1)
            #expect(program.errors.hasPrefix("Error: "))
            #expect(program.errors.split(separator: "\n").count == 1)
            #expect(site.requests.withLock { $0 } == 0)
        }
    }

    @Test(arguments: ["", "--force", "--force -X POST"], ["precious", "nowhere"])
    func aSymbolicLinkIsNoTarget(options: String, leadingTo: String) async throws {
        try await Site.with { site in
            let path = "\(site.directory)/link"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(site.directory)/precious"))
            try #require(symlink(leadingTo, path) == 0)
            let program = try await BuiltProgram.run("get \(site.url)/file -o \(path) \(options)")
            #expect(program.status == 1)
            #expect(program.errors.contains("symbolic link"))
            #expect(site.requests.withLock { $0 } == 0)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == leadingTo)
            #expect(site.file("precious") == Data("mine".utf8))
        }
    }

    @Test func devicesAreWrittenAsTheyAre() async throws {
        try await Site.with { site in
            #expect(try await BuiltProgram.run("get \(site.url)/file -o /dev/null").status == 0)
            let full = try await BuiltProgram.run("get \(site.url)/file -o /dev/full")
            #expect(full.status == 1)
            #expect(full.errors.contains("No space left on device"))
        }
    }

    @Test func aStatusOf400OrMoreIsNotDoneAndLeavesNoFile() async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(site.url)/absent -o \(site.directory)/new")
            #expect(program.status == 1)
            #expect(program.errors.contains("404"))
            #expect(program.errors.split(separator: "\n").count == 1)
            #expect(site.files.isEmpty)
        }
    }

    @Test func noServerIsOneLineThatSaysWhatToDo() async throws {
        let program = try await BuiltProgram.run("get http://127.0.0.1:1/")
        #expect(program.status == 1)
        #expect(program.errors.split(separator: "\n").count == 1)
        #expect(program.errors.contains("no connection"))
    }

    @Test func aReaderThatHasSeenEnoughEndsItQuietly() async throws {
        try await Site.with { site in
            let command = "\(BuiltProgram.path) get \(site.url)/file | head -c 10; echo status ${PIPESTATUS[0]}"
            let program = try RunningProgram(["/bin/bash", "-c", command])
            try await program.wait()
            #expect(program.output.hasSuffix("status 1\n"))
            #expect(program.errors.isEmpty)
        }
    }

    @Test func interruptedItExits130AndLeavesNothing() async throws {
        try await Site.with { site in
            let program = try BuiltProgram.start("get \(site.url)/never -o \(site.directory)/new")
            try await eventually("the request arrives") { site.requests.withLock { $0 } == 1 }
            program.signal(SIGINT)
            #expect(try await program.wait() == 130)
            #expect(site.files.isEmpty)
            #expect(program.errors.isEmpty)
        }
    }

    @Test func progressIsDrawnOnATerminalAlone() async throws {
        try await Site.with { site in
            let program = try BuiltProgram.start(
                "get \(site.url)/file -o \(site.directory)/new", terminal: TerminalDimensions(columns: 80, rows: 24))
            #expect(try await program.wait() == 0)
            #expect(program.output.contains("100 %  300 kB of 300 kB"))
            #expect(program.output.contains("━"))
        }
    }

    /// Its output and its errors are the same terminal.
    @Test func noProgressIsDrawnWhereTheBodyIsSeen() async throws {
        let server = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 6", body: "answer")
        defer { server.stop() }
        let program = try BuiltProgram.start(
            "get \(server.url())", environment: ["TERM": "xterm-256color"],
            terminal: TerminalDimensions(columns: 80, rows: 24))
        #expect(try await program.wait() == 0)
        #expect(program.output == "answer")
    }

    @Test(arguments: ["", " -i"])
    func anUploadsProgressStandsAboveTheBody(words: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
        let server = try RawServer([
            .readHead, .readBody(), .pause(.milliseconds(500)), .send("\(head)answer"), .close,
        ])
        defer { server.stop() }
        let program = try BuiltProgram.start(
            "get \(server.url()) -d x\(words)", environment: ["TERM": "xterm-256color"],
            terminal: TerminalDimensions(columns: 80, rows: 24))
        #expect(try await program.wait() == 0)
        let output = program.output
        let drawn = try #require(output.range(of: "\u{1B}[K", options: .backwards), "\(output)")
        #expect(output[..<drawn.lowerBound].contains("100 %"), "\(output)")
        let below = output[drawn.upperBound...]
        #expect(below.first?.isNewline == true && below.hasSuffix("answer"), "\(output)")
        #expect(below.dropFirst().hasPrefix(words.isEmpty ? "answer" : "HTTP/1.1 200 OK"), "\(output)")
    }

    @Test(.needsNetworkNamespaces)
    func throughAProxyTheWayToItIsEnough() async throws {
        try await withNetworkNamespaces { host, _ in
            let words = "get http://198.51.100.1/ --proxy http://192.0.2.1:3128 --connect-timeout 0.3"
            let without = try await BuiltProgram.run("\(words) --within 0.3", in: host)
            #expect(without.errors.contains("did not come in time"), "\(without.errors)")
            try host.batch([
                "link add uplink0 type veth peer name peer0", "link set peer0 up", "link set uplink0 up",
                "address add 192.0.2.2/24 dev uplink0",
            ])
            let program = try await BuiltProgram.run("\(words) --within 20", in: host)
            #expect(program.status == 1)
            #expect(!program.errors.contains("did not come in time"), "\(program.errors)")
        }
    }

    @Test(.needsNetworkNamespaces)
    func withoutANetworkItWaitsAndGivesUpInTime() async throws {
        try await withNetworkNamespaces { host, _ in
            let start = ContinuousClock.now
            let program = try await BuiltProgram.run("get http://192.0.2.1/ --within 0.3", in: host)
            #expect(program.status == 1)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(program.errors.contains("did not come in time"))
            // This host itself needs no network: no waiting.
            try host.ip("link set lo up")
            let local = try await BuiltProgram.run("get http://127.0.0.1:1/ --within 1000", in: host)
            #expect(local.status == 1)
            #expect(local.errors.contains("no connection"))
        }
    }
}
