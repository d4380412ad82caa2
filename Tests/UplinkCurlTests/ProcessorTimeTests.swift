// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkHTTP

@testable import UplinkCurl

/// What the loops' threads use of the processor; in processes of their own, where there are no other loops.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct ProcessorTimeTests {
    @Test func anIdleWaitCostsNothing() async throws {
        await #expect(processExitsWith: .success) {
            try await withServer([.readHead, .waitForClose]) { server in
                try await withClient { client, _ in
                    await requireTimeOfLoops(below: .milliseconds(20)) {
                        _ = try? await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .seconds(2)))
                    }
                }
            }
        }
    }

    /// What is held back for want of room is not asked for again and again while there is none.
    @Test(arguments: [1, 8 << 10, 16 << 10, 48 << 10, 1 << 20]) func aBodyThatNobodyReadsCostsNothing(room: Int) async {
        await #expect(processExitsWith: .success) { [room] in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 4000100\r\n\r\n"
            let pieces: [RawServer.Step] = [.fill(100), .pause(.milliseconds(100)), .fill(4_000_000)]
            try await withServer([.readHead, .send(head)] + pieces) { server in
                var configuration = HTTPClient.Configuration()
                configuration.limits.bufferedBytes = room
                try await withClient(configuration) { client, _ in
                    let body = try await client.get(server.url()).body
                    await requireTimeOfLoops(below: .milliseconds(100)) { try? await Task.sleep(for: .seconds(1)) }
                    if try await body.discard() != 4_000_100 { exit(2) }
                }
            }
        }
    }

    /// The system's authorities take 25 ms to read.
    @Test(.disabled(if: LibCurl.addsAuthorityDirectory, "libcurl reads them for every connection"))
    func authoritiesAreReadOnceAndNotForEveryConnection() async throws {
        await #expect(processExitsWith: .success) {
            try await withServer([.pause(.milliseconds(1))]) { server in
                try await withClient { client, _ in
                    await requireTimeOfLoops(below: .milliseconds(200)) {
                        for _ in 0..<20 { _ = try? await client.get("https://127.0.0.1:\(server.port)/") }
                    }
                    if server.connections.count < 20 { exit(2) }
                }
            }
        }
    }
}

/// Ends the process with status 1 when the loops use more of the processor than that.
private func requireTimeOfLoops(below limit: Duration, _ body: () async -> Void) async {
    let before = Threads.time(named: "uplink-loop")
    await body()
    let used = Threads.time(named: "uplink-loop") - before
    if used >= Timing.slack(limit) { exit(1) }
}
