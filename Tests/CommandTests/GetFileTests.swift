// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import Uplink
import UplinkCore
import UplinkTesting

/// `uplink get` into files: what outlives a cut, a signal, a failure beside it.
@Suite(.timeLimit(.minutes(2)))
struct GetFileTests {
    private static let bytes = (0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let cut = 1200
    private static let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 2000\r\n\r\n"
    private static let restHead =
        "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 1200-1999/2000\r\n"
        + "Content-Length: 800\r\n\r\n"

    /// A server whose first connection gives a part, and ends as it is told; the next gives the rest.
    private func withServer(
        firstEnds ending: [RawServer.Step], _ body: (RawServer, TemporaryDirectory) async throws -> Void
    ) async throws {
        let part: [RawServer.Step] = [.readHead, .send(Self.head), .send(Array(Self.bytes[..<Self.cut]))]
        let rest: [RawServer.Step] = [.readHead, .send(Self.restHead), .send(Array(Self.bytes[Self.cut...]))]
        let server = try RawServer(part + ending, rest)
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await body(server, directory)
    }

    /// Whether a file in the directory has so many bytes.
    private func isThere(_ count: Int, in directory: TemporaryDirectory) -> Bool {
        directory.names.contains { name in
            var status = stat()
            return stat("\(directory.path)/\(name)", &status) == 0 && status.st_size == count
        }
    }

    private func expectRest(_ server: RawServer) throws {
        let head = try #require(server.heads.last)
        #expect(head.contains("Range: bytes=1200-\r\n"))
        #expect(head.contains("If-Range: \"v1\"\r\n"))
    }

    @Test func whatIsCutOffIsGoneOnWith() async throws {
        try await withServer(firstEnds: []) { server, directory in
            let program = try await BuiltProgram.run("get \(server.url("/file")) -O --output-dir \(directory.path)")
            #expect(program.status == 0, "\(program.errors)")
            #expect(try directory.read("file") == Self.bytes)
            #expect(directory.names == ["file"])
            try expectRest(server)
        }
    }

    /// Also where the request is sent only once, and is no download.
    @Test(arguments: [("-v", 1), ("", 1), ("-v -H Range:bytes=5-8", 0)])
    func aPartIsAFileOnlyForThoseWhoAskForIt(options: String, status: CInt) async throws {
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-8/100\r\nContent-Length: 4"
        let server = try RawServer(answering: head, body: "part")
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await BuiltProgram.run("get \(options) \(server.url()) -o \(directory.path)/f")
        #expect(program.status == status, "\(program.errors)")
        #expect(directory.names == (status == 0 ? ["f"] : []))
        #expect(program.errors.contains("206") || status == 0)
    }

    @Test func aFileThatAppearsMeanwhileIsSaidToStandInTheWay() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let nothingMissing =
            "HTTP/1.1 416 No\r\nETag: \"v1\"\r\nContent-Range: bytes */2000\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer(
            [
                .answer { _ in
                    try? directory.write("new", [9])
                    return [.send(Self.head), .send(Self.bytes)]
                }
            ], [.readHead, .send(nothingMissing)])
        defer { server.stop() }
        let words = "get \(server.url("/file")) -o \(directory.path)/new"
        let program = try await BuiltProgram.run(words)
        #expect(program.status == 1)
        let advice = "2.0 kB are kept, and the same command with --force goes on from there\n"
        #expect(program.errors.hasSuffix(advice), "\(program.errors)")
        #expect(try directory.read("new") == [9])
        let again = try await BuiltProgram.run("\(words) --force")
        #expect(again.status == 0, "\(again.errors)")
        #expect(try directory.read("new") == Self.bytes)
        #expect(server.heads.last?.contains("Range: bytes=2000-\r\n") == true, "\(server.heads)")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func whateverEndsItTheSameCommandGoesOn(signal: CInt) async throws {
        try await withServer(firstEnds: [.waitForClose]) { server, directory in
            let words = "get \(server.url("/file")) -o \(directory.path)/new"
            let program = try BuiltProgram.start(words)
            try await eventually("the first part is there") { isThere(Self.cut, in: directory) }
            program.signal(signal)
            #expect(try await program.wait() == 128 + signal)
            #expect(!directory.names.contains("new"))
            if signal != SIGKILL { #expect(program.errors.hasPrefix("Interrupted at 1.2 kB; the same command")) }
            let again = try await BuiltProgram.run(words)
            #expect(again.status == 0, "\(again.errors)")
            #expect(try directory.read("new") == Self.bytes)
            #expect(directory.names == ["new"])
            try expectRest(server)
        }
    }

    /// As timeout(1) does: it signals the program, and then its group.
    @Test func aSignalThatComesTwiceAtOnceLetsTheProgramCleanUp() async throws {
        try await withServer(firstEnds: [.waitForClose]) { server, directory in
            let program = try BuiltProgram.start(
                "get -H Range:bytes=0- \(server.url("/file")) -o \(directory.path)/new")
            try await eventually("the file is begun") { !directory.names.isEmpty }
            for _ in 1...20 {
                program.signal(SIGTERM)
                try await Task.sleep(for: .microseconds(200))
            }
            #expect(try await program.wait() == 128 + SIGTERM)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func oneFileThatFailsIsNamed() async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(site.url)/absent -o \(site.directory)/new")
            #expect(program.status == 1 && program.errors.hasPrefix("Error: new: the server answers 404"))
            let slow = try await BuiltProgram.run("get \(site.url)/never -o \(site.directory)/new --within 0.3")
            #expect(slow.errors.hasPrefix("Error: new: the download was not whole in time: 0 bytes"), "\(slow.errors)")
        }
    }

    @Test func whoReplacesFilesIsNotToldToSkipThem() async throws {
        try await Site.with { site in
            let words = "get -O --output-dir \(site.directory) \(site.url)/absent \(site.url)/file"
            #expect(try await BuiltProgram.run(words).errors.contains("the same command with --skip-existing tries"))
            let forced = try await BuiltProgram.run(words + " --force")
            #expect(forced.errors.contains("; the same command tries them again"), "\(forced.errors)")
            let existing = try await BuiltProgram.run(words)
            #expect(existing.errors.contains("exists") && existing.errors.contains("--skip-existing"))
        }
    }

    @Test func withoutResumingNothingIsLeftToGoOnWith() async throws {
        try await withServer(firstEnds: [.waitForClose]) { server, directory in
            let program = try BuiltProgram.start("get \(server.url("/file")) -o \(directory.path)/new --no-resume")
            try await eventually("the first part is there") { isThere(Self.cut, in: directory) }
            program.signal(SIGINT)
            #expect(try await program.wait() == 130)
            #expect(directory.names.isEmpty && program.errors.isEmpty)
        }
    }

    @Test func oneFailureDoesNotStopTheOthers() async throws {
        try await Site.with { site in
            let words = "get -O --output-dir \(site.directory) --parallel 2 \(site.url)/absent \(site.url)/file"
            let program = try await BuiltProgram.run(words)
            #expect(program.status == 1)
            #expect(site.file("file") == Site.body)
            #expect(site.files == ["file"])
            #expect(program.errors.contains("✓ file  300 kB in "))
            #expect(program.errors.contains("✗ absent  ") && program.errors.contains("404"))
            #expect(program.errors.contains("Error: 1 of 2 files did not come"))
            #expect(program.output.isEmpty)
        }
    }

    @Test(arguments: ["-fsSL", "-s", "--silent --fail --location --show-error"])
    func whoWantsSilenceIsToldOnlyWhatGoesWrong(option: String) async throws {
        try await Site.with { site in
            let words = "get \(option) -O --output-dir \(site.directory) --skip-existing \(site.url)/file"
            for _ in 1...2 {  // the second time it exists
                let program = try await BuiltProgram.run(words)
                #expect(program.status == 0 && program.output.isEmpty && program.errors.isEmpty)
            }
            let failing = try await BuiltProgram.run(words + " \(site.url)/absent")
            #expect(failing.status == 1)
            #expect(failing.errors.hasPrefix("Error: ") && failing.errors.contains("404"))
            let answer = try await BuiltProgram.run("get \(option) -o - \(site.url)/absent")
            #expect(answer.status == 1 && answer.errors.contains("404"))
        }
    }

    @Test func filesThatExistAreSkippedWhereThatIsAskedFor() async throws {
        try await Site.with { site in
            let words = "get -O --output-dir \(site.directory) --skip-existing \(site.url)/file"
            #expect(try await BuiltProgram.run(words).status == 0)
            let again = try await BuiltProgram.run(words)
            #expect(again.status == 0)
            #expect(again.errors == "file exists; skipped\n")
            #expect(site.requests.withLock { $0 } == 1)
        }
    }

    @Test func aFileHasItsChecksumOrThereIsNone() async throws {
        try await Site.with { site in
            var checksum = SHA256()
            Array(Site.body).withUnsafeBytes { checksum.update($0) }
            let digits = checksum.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let words = "get \(site.url)/file -O --output-dir \(site.directory) --checksum sha256:"
            let wrong = try await BuiltProgram.run(words + String(repeating: "0", count: 64))
            #expect(wrong.status == 1)
            #expect(wrong.errors.hasPrefix("Error: "))
            #expect(site.files.isEmpty)
            #expect(try await BuiltProgram.run(words + digits).status == 0)
            #expect(site.file("file") == Site.body)
        }
    }

    @Test func whatIsTooLargeIsRefused() async throws {
        try await Site.with { site in
            let program = try await BuiltProgram.run("get \(site.url)/file -o \(site.directory)/new --max-filesize 1k")
            #expect(program.status == 1)
            #expect(program.errors.contains("--max-filesize"))
            #expect(program.errors.split(separator: "\n").count == 1)
            #expect(site.files.isEmpty)
        }
    }

    @Test func whatMayBeCutOffIsNoFile() async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\n\r\nhello")])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await BuiltProgram.run("get \(server.url("/file")) -o \(directory.path)/new")
        #expect(program.status == 1)
        #expect(program.errors.contains("no length") && program.errors.contains("--checksum, or"))
        #expect(directory.names.isEmpty)
    }

    /// With the head in front of it, it would have more bytes than can be counted.
    @Test func theLargestLengthIsNoTrap() async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(Int64.max)\r\n\r\nhello")])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await BuiltProgram.run("get -i \(server.url("/file")) -o \(directory.path)/new")
        #expect(program.status == 1)
        #expect(program.errors.contains("after 5 of \(Int64.max) bytes"), "\(program.errors)")
        #expect(directory.names.isEmpty)
    }

    @Test func anAnswerThatMayBeCutOffIsNoFileEither() async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\n\r\nhello")])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await BuiltProgram.run("get -d x \(server.url("/file")) -o \(directory.path)/new")
        #expect(program.status == 1)
        #expect(program.errors.contains("cut off unnoticed; fetch to the standard output\n"), "\(program.errors)")
        #expect(!program.errors.contains("equiresFramed") && !program.errors.contains("unframed"))
        #expect(directory.names.isEmpty)
    }

    @Test func severalURLsNeedFiles() async throws {
        let words = "get http://127.0.0.1:1/a http://127.0.0.1:1/b -o /dev/null -o /dev/zero"
        let program = try await BuiltProgram.run(words)
        #expect(program.status == 1)
        #expect(program.errors.contains("a device"))
    }

    @Test(.needsNetworkNamespaces)
    func withoutANetworkADownloadWaitsAndGivesUpInTime() async throws {
        try await withNetworkNamespaces { host, _ in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let start = ContinuousClock.now
            let words = "get http://192.0.2.1/file -o \(directory.path)/new --within 0.3"
            let program = try await BuiltProgram.run(words, in: host)
            #expect(program.status == 1)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(program.errors.contains("not whole in time"))
            #expect(directory.names.isEmpty)
        }
    }

    /// No byte comes: so many further attempts, and no more.
    @Test(arguments: [0, 2])
    func aDownloadIsTriedAgainAsOftenAsIsAskedFor(retries: Int) async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), .loop])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await BuiltProgram.run(
            "get \(server.url("/file")) -o \(directory.path)/new --retry \(retries)")
        #expect(program.status == 1)
        #expect(server.heads.count == retries + 1)
    }

    @Test(arguments: [("file.txt", true), ("file.tar.gz", false)])
    func whatAServerEncodesUnaskedIsSaidUnlessTheNameSaysIt(name: String, isSaid: Bool) async throws {
        let server = try RawServer([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nzip!"),
        ])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await BuiltProgram.run("get \(server.url("/\(name)")) -O --output-dir \(directory.path)")
        #expect(program.status == 0)
        #expect(try directory.read(name) == Array("zip!".utf8))
        #expect(program.errors.contains("\(name) is kept as the server sent it: encoded (gzip)") == isSaid)
    }
}
