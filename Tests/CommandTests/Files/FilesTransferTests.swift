// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import TestSupport
import Testing
import Uplink

@testable import UplinkCommand

#if !Store  // the plain program: with the store, these are still to be tried
/// Large files through the real client and the real server.
///
/// `UPLINK_FULL` makes them 1 GiB, and has memory and the time of a cancellation measured.
@Suite(.timeLimit(.minutes(5)), .serialized, .undisturbed)
struct FilesTransferTests {
    private static let isFull = getenv("UPLINK_FULL") != nil
    private static let size = isFull ? 1 << 30 : 9_000_001
    /// How much memory a transfer may take beyond what a small one takes.
    private static let memory = 48 << 20

    /// Puts a file of ``size`` into a directory; its bytes tell their places.
    private func makeFile(_ name: String, in directory: TemporaryDirectory) throws {
        let block = (0..<1_048_573).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }  // a prime number of bytes
        let file = try FileDescriptor.open(
            directory.path.appending(name), .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
        try file.closeAfter {
            var rest = Self.size
            while rest > 0 { rest -= try file.writeAll(block.prefix(rest)) }
        }
    }

    private func areEqual(_ one: String, _ other: String) async throws -> Bool {
        let program = try RunningProgram(["/usr/bin/cmp", one, other])
        return try await program.wait(upTo: .seconds(60)) == 0
    }

    /// Runs to the end, and tells the most memory that the program had.
    private func peak(of program: RunningProgram) async throws -> Int {
        var peak = 0
        try await eventually(within: .seconds(200), "a transfer: \(program.errors)") {
            peak = max(peak, ProcessMemory.peak(of: program.id))
            return program.status != nil
        }
        #expect(program.status == 0, "\(program.errors)")
        return peak
    }

    @Test func aFileGoesThereAndBackInBoundedMemory() async throws {
        let served = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: served.path.string) }
        try await FilesPrograms.with(served.path.string) { site in
            try site.home.write("small", [1])
            let usual = try await peak(of: site.start("put \(site.home.path)/small / \(site.options)"))
            let usualServer = ProcessMemory.peak(of: site.server.id)
            try makeFile("large", in: site.home)

            let put = try await peak(of: site.start("put \(site.home.path)/large / \(site.options)"))
            #expect(try await areEqual("\(site.home.path)/large", "\(served.path)/large"))
            let get = try await peak(of: site.start("get /large \(site.home.path)/copy \(site.options)"))
            #expect(try await areEqual("\(site.home.path)/large", "\(site.home.path)/copy"))
            let line = "\(BuiltProgram.path) files cat /large \(site.options) | cmp - \(site.home.path)/large"
            let cat = try RunningProgram(["/bin/bash", "-o", "pipefail", "-c", line])
            #expect(try await cat.wait(upTo: .seconds(200)) == 0, "\(cat.errors)")

            guard Self.isFull else { return }
            let server = ProcessMemory.peak(of: site.server.id)
            print("peak memory in MB: put \(put >> 20), get \(get >> 20), server \(server >> 20), usual \(usual >> 20)")
            #expect(max(put, get) - usual < Self.memory)
            #expect(server - usualServer < Self.memory)
        }
    }

    /// What is there stays until all of the new one has come.
    @Test func anInputThatDoesNotEndReplacesNothing() async throws {
        try await FilesPrograms.with { site in
            let home = site.home.path
            try site.home.write("old", Array("old".utf8))
            try FileManager.default.createDirectory(atPath: "\(home)/tmp", withIntermediateDirectories: false)
            try await site.run("put \(home)/old /name")
            #expect(mkfifo("\(home)/pipe", 0o600) == 0)
            let options = "--server \(site.url) --user \(FilesPrograms.user)"
            for (words, signal, status) in [
                ("put - /name --force --password-file \(home)/password", "INT", CInt(130)),
                ("ls --password-stdin", "TERM", 143), ("ls --password-file \(home)/pipe", "HUP", 129),
            ] {
                let line = "exec 3<>\(home)/pipe; exec timeout --preserve-status -s \(signal) 1 "
                let program = try RunningProgram(
                    ["/bin/bash", "-c", "\(line) \(BuiltProgram.path) files \(words) \(options) <&3"],
                    environment: site.environment.merging(["TMPDIR": "\(home)/tmp"]) { $1 })
                #expect(try await program.wait(upTo: .seconds(20)) == status, "\(words): \(program.errors)")
            }
            #expect(try await site.run("cat /name").output == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home)/tmp").isEmpty)
            let whole = "echo new | \(BuiltProgram.path) files put - /name --force \(site.options)"
            let program = try RunningProgram(["/bin/bash", "-c", whole], environment: site.environment)
            #expect(try await program.wait(upTo: .seconds(20)) == 0, "\(program.errors)")
            #expect(try await site.run("cat /name").output == "new\n")
        }
    }

    /// Nobody knows then whether the server has done it.
    @Test(arguments: [false, true])
    func whoseDeletionHasNoAnswerIsToldWhatMayBeLost(isLost: Bool) async throws {
        let holding = try HoldingServer(isLosingDeletions: isLost)
        defer { holding.server.stop() }
        try await FilesPrograms.with { site in
            try site.home.write("file", [2])
            let program = try site.start(
                "put \(site.home.path)/file / --force \(site.options(for: holding.server.url("")))")
            try await eventually(within: .seconds(30), "the deletion is sent: \(program.errors)") {
                holding.server.heads.contains { $0.hasPrefix("DELETE ") }
            }
            if !isLost { program.signal(SIGINT) }
            #expect(try await program.wait(upTo: .seconds(30)) == (isLost ? 1 : 130))
            #expect(program.errors.contains("the file that was there may be deleted"), "\(program.errors)")
        }
    }

    @Test(arguments: ["get /file %/new", "cat /file", "put %/source /"])
    func cancelledItEndsAtOnceAndLeavesNothingBehind(words: String) async throws {
        let holding = try HoldingServer()
        defer { holding.server.stop() }
        try await FilesPrograms.with { site in
            try site.home.write("source", [UInt8](repeating: 2, count: 3_000_000))
            let words = words.replacing("%", with: site.home.path.string)
            let program = try site.start("\(words) \(site.options(for: holding.server.url("")))")
            try await eventually(within: .seconds(30), "the transfer is under way: \(program.errors)") {
                guard let head = holding.server.heads.last else { return false }
                if words.hasPrefix("cat") { return program.outputBytes.count == HoldingServer.sent }
                return head.hasPrefix("POST") || head.contains("/data ")
            }
            let start = ContinuousClock.now
            program.signal(SIGINT)
            #expect(try await program.wait() == 130)
            let time = ContinuousClock.now - start
            if Self.isFull { #expect(time < .milliseconds(50)) }
            #expect(!site.home.names.contains("new"))
            try await eventually(within: .seconds(30), "the connection is closed") {
                holding.server.connections.contains { $0.closedAt != nil }
            }
        }
    }

    @Test func aLargeTransferIsCancelledInTheMiddle() async throws {
        guard Self.isFull else { return }
        let served = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: served.path.string) }
        try makeFile("large", in: served)
        try await FilesPrograms.with(served.path.string) { site in
            for words in ["get /large \(site.home.path)/copy", "put \(served.path)/large /new", "cat /large"] {
                let program = try site.start("\(words) \(site.options)")
                try await eventually(within: .seconds(30), "the transfer is under way") {
                    let names = site.home.names + served.names
                    return program.outputBytes.count > 10_000_000
                        || names.contains { $0.hasPrefix(".copy") || $0.hasPrefix(ServedFiles.Upload.prefix) }
                }
                try await Task.sleep(for: .milliseconds(300))
                let start = ContinuousClock.now
                program.signal(SIGINT)
                #expect(try await program.wait() == 130)
                let time = ContinuousClock.now - start
                print("cancelled after \(time): \(words)")
                #expect(time < .milliseconds(50))
                try await eventually(within: .seconds(30), "the server lets go of it") { served.names == ["large"] }
            }
        }
    }
}

/// What the kernel says about another process's memory.
enum ProcessMemory {
    /// The most that it had at once, in bytes; 0 when it has gone.
    static func peak(of process: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
#endif
