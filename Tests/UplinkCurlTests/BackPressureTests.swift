// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// What a slow or absent reader costs. Real time, because the kernel's buffers take part.
@Suite(.timeLimit(.minutes(5)), .undisturbed, .serialized)
struct BackPressureTests {
    private static let isFull = getenv("UPLINK_FULL") != nil
    /// 10 GiB, or enough to exceed the limit several times.
    private static let size = isFull ? 10 << 30 : 192 << 20

    /// What a connection's buffers in the kernel may hold (`tcp_rmem`, `tcp_wmem`), and a little.
    private static let kernel = 64 << 20

    private static func head(_ size: Int) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n" }

    /// In a process of its own, where nobody else's memory counts.
    @Test func aGreatBodyStreamsInBoundedMemory() async throws {
        await #expect(processExitsWith: .success) {
            let size = BackPressureTests.size
            try await withServer([.readHead, .send(BackPressureTests.head(size)), .fill(size)]) { server in
                try await withClient { client, _ in
                    let before = Memory.resident
                    let peak = Memory.resetPeak()
                    let count = try await client.get(server.url()).body.discard()
                    #expect(count == Int64(size))
                    let growth = (peak ? Memory.peak : Memory.resident) - before
                    #expect(Timing.isInstrumented || growth < 64 << 20, "grew by \(growth >> 10) KiB")
                }
            }
        }
    }

    @Test func aSlowReaderHoldsTheServerUp() async throws {
        let size = 128 << 20
        try await withServer([.readHead, .send(Self.head(size)), .fill(size)]) { server in
            try await withClient { client, _ in
                let response = try await client.get(server.url(), timeouts: HTTPTimeouts(stall: .milliseconds(300)))
                let before = Memory.resident
                try await Task.sleep(for: .milliseconds(700))  // longer than the stall timeout, which must not run
                let sent = server.connections[0].filled
                #expect(sent < Self.kernel, "the server got rid of \(sent >> 10) KiB though nobody read")
                #expect(Timing.isInstrumented || Memory.resident - before < 32 << 20)
                #expect(try await response.body.discard() == Int64(size))
            }
        }
    }

    @Test func aReaderWhoPausesAtEveryChunkGetsEverything() async throws {
        let size = 3_000_001
        try await withServer([.readHead, .send(Self.head(size)), .fill(size)]) { server in
            var configuration = HTTPClient.Configuration()
            configuration.limits.bufferedBytes = 1  // every chunk pauses, the last one too
            try await withClient(configuration) { client, _ in
                var count = 0
                for try await chunk in try await client.get(server.url()).body {
                    count += chunk.count
                    chunk.withUnsafeBytes { bytes in #expect(bytes.allSatisfy { $0 == UInt8(ascii: "x") }) }
                    await Task.yield()
                }
                #expect(count == size)
            }
        }
    }

    /// A reader on another thread may be held back while a server pours, and not when it has stopped.
    @Test(.timeLimit(.minutes(1))) func aReaderGetsWhatIsThereWhenATorrentStops() async throws {
        let noTimeouts = HTTPTimeouts(connect: nil, firstByte: nil, stall: nil)  // or a deadline would end a turn
        let (piece, times) = ([UInt8](repeating: 120, count: 100_000), 40)
        var script: [RawServer.Step] = [.readHead, .send(Self.head(Self.size))]
        for _ in 0..<times {
            script += [.send(piece), .pause(.microseconds(200)), .send(piece), .pause(.milliseconds(5))]
        }
        try await withServer(script + [.waitForClose]) { server in
            try await withClient { client, _ in
                var count = 0
                for try await chunk in try await client.get(server.url(), timeouts: noTimeouts).body {
                    count += chunk.count
                    if count == 2 * times * piece.count { break }
                }
                #expect(count == 2 * times * piece.count)
            }
        }
    }

    @Test func collectingStopsAtTheMaximum() async throws {
        let size = 128 << 20
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        try await withServer([.readHead, .send(head), .fill(size)]) { server in
            try await withClient { client, transport in
                let (error, _) = await failure {
                    _ = try await client.get(server.url()).body.collect(upTo: 1_000_000)
                }
                #expect(error?.code == .bodyTooLarge)
                #expect(await transport.census().transfers == 0)
                #expect(server.connections[0].filled < Self.kernel)
            }
        }
    }

    @Test func aSecondIteratorIsAnError() async throws {
        try await withServer([.readHead, .send(Self.head(2) + "ok")]) { server in
            try await withClient { client, _ in
                let body = try await client.get(server.url()).body
                #expect(try await body.collect(upTo: 2).count == 2)
                let (error, _) = await failure { _ = try await body.collect(upTo: 2) }
                #expect(error?.code == .bodyAlreadyUsed)
            }
        }
    }
}
