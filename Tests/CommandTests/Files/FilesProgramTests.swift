// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import UplinkCommand

/// The real program against its own server.
@Suite(.timeLimit(.minutes(2)))
struct FilesProgramTests {
    @Test func aSessionFromLoginToLogout() async throws {
        let home = try TemporaryDirectory()
        defer { home.remove() }
        let config = try TemporaryDirectory()
        defer { config.remove() }
        let state = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: state.path.string) }
        let environment = ["XDG_CONFIG_HOME": config.path.string, "XDG_STATE_HOME": state.path.string]
        try home.write("password", Array("se:cret\n".utf8))
        try home.write("cat.txt", Array("meow\n".utf8))
        func uplink(_ words: String, status: Int32 = 0) async throws -> RunningProgram {
            let program = try await BuiltProgram.run("files \(words)", environment: environment)
            #expect(program.status == status, "\(words): \(program.errors)")
            return program
        }

        let password = "--password-file \(home.path)/password"
        let server = try BuiltProgram.start("files serve --user me \(password)")
        try await server.waitForOutput("\n")
        let url = String(try #require(server.output.split(separator: "\n").first))

        #expect(try await uplink("ls", status: 1).errors.contains("--server"))
        #expect(try await uplink("login --server \(url) --user me \(password) --keep").output == "Demo User\n")
        #expect(try await uplink("mkdir /Pictures").output.isEmpty)
        #expect(try await uplink("put \(home.path)/cat.txt /Pictures --json").output.contains("\"name\":\"cat.txt\""))
        #expect(try await uplink("ls /Pictures").output.hasSuffix("  cat.txt\n"))
        #expect(try await uplink("cat /Pictures/cat.txt").output == "meow\n")
        _ = try await uplink("get /Pictures/cat.txt \(home.path)/copy")
        #expect(try home.read("copy") == Array("meow\n".utf8))
        try home.write("cat.txt", Array("purr\n".utf8))
        _ = try await uplink("put \(home.path)/cat.txt /Pictures", status: 1)
        #expect(try await uplink("cat /Pictures/cat.txt").output == "meow\n")
        _ = try await uplink("put --force \(home.path)/cat.txt /Pictures")
        #expect(try await uplink("cat /Pictures/cat.txt").output == "purr\n")
        _ = try await uplink("mkdir /Pictures/a/b", status: 1)
        _ = try await uplink("mkdir -p /Pictures/a/b")
        _ = try await uplink("mkdir -p /Pictures/a/b")
        _ = try await uplink("mkdir -p /")
        #expect(try await uplink("ls /Pictures/a").output.hasSuffix("  b/\n"))
        _ = try await uplink("mkdir -p /Pictures/cat.txt/a", status: 1)
        #expect(try await uplink("rm /Pictures", status: 1).errors.contains("--recursive"))
        _ = try await uplink("rm -r /Pictures")
        #expect(try await uplink("ls --json").output == "[]\n")
        #expect(mkfifo("\(home.path)/pipe", 0o600) == 0)
        #expect(try await uplink("put \(home.path)/pipe /", status: 1).errors.contains("`-` takes what a pipe brings"))
        #expect(try await uplink("serve \(home.path)/no", status: 1).errors.hasPrefix("Error: `\(home.path)"))
        try #require(chmod("\(config.path)/uplink/files.json", 0o644) == 0)
        let whom = "--server \(url) --user me"
        #expect(try await uplink("ls --json", status: 1).errors.contains("chmod 600"))
        #expect(try await uplink("ls --json \(whom)", status: 1).errors.contains("chmod 600"))
        #expect(try await uplink("ls --json \(whom) \(password)").output == "[]\n")  // which the file is not needed for
        try #require(chmod("\(config.path)/uplink/files.json", 0o600) == 0)
        #expect(try await uplink("logout").output == "Forgotten.\n")

        server.signal(2)
        #expect(try await server.wait() == 130)
        #expect(!server.output.contains("se:cret") && !server.errors.contains("se:cret"))
    }

    @Test func aPathThatEndsInASlashIsThatOfAFolder() async throws {
        try await FilesPrograms.with { site in
            let home = site.home.path
            try site.home.write("a.txt", Array("a".utf8))
            #expect(try await site.run("put \(home)/a.txt /New/", status: 1).errors.contains("no folder `/New`"))
            #expect(try await site.run("ls --json").output == "[]\n")
            #expect(try await site.run("put - /New/", status: 64).errors.contains("has no name"))
            try await site.run("mkdir /New")
            try await site.run("put \(home)/a.txt /New/")
            let refused = try await site.run("get /New/a.txt \(home)/new/", status: 1)
            #expect(refused.errors.contains("there is no directory `\(home)/new/`"))
            #expect(site.home.names == ["a.txt", "password"])
        }
    }

    @Test func aRefusalSaysWhichRuleOrWhichItemStandsInTheWay() async throws {
        try await FilesPrograms.with { site in
            let home = site.home.path
            try site.home.write("a.txt", Array("a".utf8))
            try await site.run("put \(home)/a.txt")
            try await site.run("mkdir /a")
            for (words, reason) in [
                ("put \(home)/a.txt", "`/a.txt` exists; --force replaces it"),
                ("put - /a --force", "`/a` is a folder"),
                ("mkdir /a", "`/a` exists (-p makes that no error)"),
                ("mkdir /a.txt", "`/a.txt` exists, and is a file"),
                ("mkdir a:b", "a name cannot hold `:`"), ("mkdir -p a:b", "a name cannot hold `:`"),
                ("mkdir /a.txt/b", "`/a.txt` is a file, not a folder"),
                ("put \(home)/a.txt /a.txt/b", "`/a.txt` is a file, not a folder"),
                ("cat /a", "`/a` is a folder"), ("cat /", "`/` is a folder"),
                ("get /a \(home)/copy", "`/a` is a folder"),
            ] {
                let program = try await site.run(words, status: 1)
                #expect(program.errors.hasPrefix("Error: \(reason)"), "\(words): \(program.errors)")
            }
            #expect(site.home.names == ["a.txt", "password"])
        }
    }

    @Test func progressEndsBeforeTheJSON() async throws {
        try await FilesPrograms.with { site in
            try site.home.write("a.txt", Array("abc".utf8))
            for words in ["put \(site.home.path)/a.txt /", "get /a.txt \(site.home.path)/copy"] {
                let program = try BuiltProgram.start(
                    "files \(words) --json \(site.options)",
                    environment: site.environment.merging(["TERM": "xterm-256color"]) { $1 },
                    terminal: TerminalDimensions(columns: 80, rows: 24))
                #expect(try await program.wait() == 0, "\(program.output)")
                let lines = program.output.split(separator: "\r\n")
                #expect(lines.first?.contains("3 bytes") == true, "\(program.output)")
                #expect(lines.last?.hasPrefix("{\"contentType\":") == true, "\(program.output)")
            }
        }
    }

    @Test func whoseReaderHasGoneEndsWithoutAWord() async throws {
        let gone: @Sendable () async throws -> Void = { throw OutputError(errno: EPIPE) }
        let code = await #expect(throws: ExitCode.self) { try await untilInterrupted(gone) }
        #expect(code?.rawValue == 1)
    }

    @Test func aPasswordIsAskedForWithoutAnEcho() async throws {
        let config = try TemporaryDirectory()
        defer { config.remove() }
        let state = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: state.path.string) }
        try await FilesSite.with { site in
            let program = try BuiltProgram.start(
                "files me --server \(site.url.text) --user me",
                environment: ["XDG_CONFIG_HOME": config.path.string, "XDG_STATE_HOME": state.path.string],
                terminal: TerminalDimensions(columns: 80, rows: 24))
            try await program.waitForOutput("Password for me")
            try program.type("\(FilesSite.password)\n")
            #expect(try await program.wait() == 0)
            #expect(program.output.contains("Demo User"))
            #expect(!program.output.contains(FilesSite.password))
            #expect(config.names.isEmpty)
        }
    }

    @Test(arguments: [
        "files frobnicate", "files ls --server ftp://x", "files ls --user a:b", "files put", "files serve --fail 0",
        "files ls --password-stdin --password-file x", "files put - /", "files serve --user a:b",
        "files me --password x", "files get /f -", "files browse --password-stdin",
        "files --password-stdin",
    ])
    func wrongUsageExits64(words: String) {
        let error = #expect(throws: (any Error).self) {
            try UplinkProgram.parseAsRoot(words.split(separator: " ").map(String.init))
        }
        #expect(error.map { UplinkProgram.exitCode(for: $0).rawValue } == 64)
    }
}
