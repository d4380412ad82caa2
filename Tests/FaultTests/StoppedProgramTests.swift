// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// A program that is stopped (SIGSTOP) in the middle of a download, and goes on later (SIGCONT).
@Suite(.timeLimit(.minutes(1)))
struct StoppedProgramTests {
    /// What came while it was stopped counts before the timeouts that passed meanwhile.
    @Test func aDownloadGoesOnWhereItWasStopped() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nConnection: close\r\n\r\n"
        let script: [RawServer.Step] = [
            .readHead, .send(head), .fill(4000), .pause(.seconds(4)), .fill(296_000),
        ]
        try await download(script, within: 40, "stall=6") { program, _, directory in
            try await eventually("a part is there") { (try? directory.read(".f.uplink-part"))?.count == 4000 }
            try await Task.sleep(for: .milliseconds(200))  // until the program does nothing but wait
            program.signal(SIGSTOP)
            try await Task.sleep(for: .seconds(7))  // beyond its stall timeout, within which the server has sent more
            program.signal(SIGCONT)
            #expect(try await program.wait() == 0, "\(program.output)\(program.errors)")
            #expect(program.output == "whole 300000 transferred 300000 resumptions 0\n")
        }
    }

    /// The time while it was stopped counts.
    @Test func aDeadlineThatPassedMeanwhileIsTold() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
        try await download([.readHead, .send(head), .fill(2), .waitForClose], within: 4) { program, server, _ in
            try await eventually("a part is sent") { server.connections.first?.filled == 2 }
            program.signal(SIGSTOP)
            try await Task.sleep(for: .seconds(4))  // its deadline passes, which is what is tried
            let start = ContinuousClock.now
            program.signal(SIGCONT)
            #expect(try await program.wait() == 1)
            #expect(program.output.contains("failed deadlineExceeded"), "\(program.output)\(program.errors)")
            #expect(ContinuousClock.now - start < .seconds(10))
        }
    }

    private func download(
        _ script: [RawServer.Step], within seconds: Int, _ more: String...,
        body: (RunningProgram, RawServer, TemporaryDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let server = try RawServer(script)
        defer { server.stop() }
        let words = [BuiltProgram.path(of: "DownloadVictim"), server.url(), "\(directory.path)/f", "\(seconds)"]
        let program = try RunningProgram(words + more)
        try await body(program, server, directory)
    }
}
