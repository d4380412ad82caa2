// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Uplink

/// Downloads in a process that is killed: the next run finishes the file.
@Suite(.timeLimit(.minutes(DownloadWorkload.isFull ? 30 : 2)), .serialized)
struct DownloadKillTests {
    private static let content = DownloadScene.content(2_000_000)

    private func start(_ server: FileServer, _ target: FilePath, _ more: String...) throws -> RunningProgram {
        try RunningProgram([BuiltProgram.path(of: "DownloadVictim"), server.url(), target.string, "60"] + more)
    }

    private func with(
        _ conduct: FileServer.Conduct..., body: (FileServer, TemporaryDirectory, FilePath) async throws -> Void
    ) async throws {
        let server = try FileServer(Self.content)
        for conduct in conduct { server.next(conduct) }
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await body(server, directory, directory.path.appending("f"))
    }

    private func size(_ path: FilePath) -> Int {
        var status = stat()
        return stat(path.string, &status) == 0 ? Int(status.st_size) : -1
    }

    @Test func whatAKilledProcessHasLeftIsGoneOnWith() async throws {
        try await with(.hold(after: 1_000_000)) { server, directory, target in
            let first = try start(server, target)
            let partial = directory.path.appending(".f.uplink-part")
            try await eventually("it has written what came", { size(partial) == 1_000_000 })
            first.signal(SIGKILL)
            #expect(try await first.wait() == 128 + SIGKILL)
            #expect(directory.names == [".f.uplink-part", ".f.uplink-record"])
            let second = try start(server, target)
            #expect(try await second.wait() == 0, "\(second.output)")
            #expect(second.output == "whole 2000000 transferred 1000000 resumptions 1\n")
            #expect(directory.holds("f", Self.content))
            #expect(directory.names == ["f"])
        }
    }

    @Test func twoProcessesOnOneTargetRefuseEachOther() async throws {
        try await with(.hold(after: 1_000_000)) { server, directory, target in
            let first = try start(server, target)
            try await eventually { size(directory.path.appending(".f.uplink-part")) == 1_000_000 }
            let second = try start(server, target)
            #expect(try await second.wait() == 1)
            #expect(second.output.contains("failed targetBusy"))
            #expect(size(directory.path.appending(".f.uplink-part")) == 1_000_000)
            #expect(server.requests.count == 1)
            first.signal(SIGKILL)
            try await first.wait()
        }
    }

    @Test func aKillAtARandomMomentCostsNothingButTime() async throws {
        var numbers = SeededGenerator(seed: DownloadWorkload.seed)
        for round in 0..<(DownloadWorkload.isFull ? 100 : 3) {
            try await with { server, directory, target in
                for _ in 0..<10 { server.next(.slow(piece: 50_000, pause: .milliseconds(2))) }
                let first = try start(server, target, "replace")
                try await eventually("the program asks") { server.requests.count == 1 || first.status != nil }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...120_000, using: &numbers)))
                first.signal(SIGKILL)
                try await first.wait()
                let second = try start(server, target, "replace")
                let seed = "round \(round), UPLINK_SEED=\(DownloadWorkload.seed): \(second.output)"
                #expect(try await second.wait() == 0, "\(seed)")
                #expect(directory.holds("f", Self.content), "\(seed)")
                #expect(directory.names == ["f"], "\(seed)")
            }
        }
    }
}
