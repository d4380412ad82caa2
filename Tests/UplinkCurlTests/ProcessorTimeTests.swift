// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkHTTP

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

    /// The system's authorities take 25 ms to read.
    @Test func authoritiesAreReadOnceAndNotForEveryConnection() async throws {
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
