// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkHTTP

/// What the loops' threads use of the processor. Other suites may use theirs meanwhile, hence the second chances.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct ProcessorTimeTests {
    private func timeOfLoops(_ body: () async throws -> Void) async rethrows -> Duration {
        let before = Threads.time(named: "uplink-loop")
        try await body()
        return Threads.time(named: "uplink-loop") - before
    }

    @Test func anIdleWaitCostsNothing() async throws {
        let limit = Timing.slack(.milliseconds(20))
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { client, _ in
                let used = await Timing.measure({ $0 < limit }) {
                    await timeOfLoops {
                        _ = try? await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .seconds(2)))
                    }
                }
                #expect(used < limit, "the wait used \(used)")
            }
        }
    }

    /// The system's authorities take 25 ms to read.
    @Test func authoritiesAreReadOnceAndNotForEveryConnection() async throws {
        let limit = Timing.slack(.milliseconds(200))
        try await withServer([.pause(.milliseconds(1))]) { server in
            try await withClient { client, _ in
                let used = await Timing.measure({ $0 < limit }) {
                    await timeOfLoops {
                        for _ in 0..<20 { _ = try? await client.get("https://127.0.0.1:\(server.port)/") }
                    }
                }
                #expect(used < limit, "20 connections used \(used)")
                #expect(server.connections.count >= 20)
            }
        }
    }
}
