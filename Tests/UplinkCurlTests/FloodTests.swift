// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// A server that sends without a pause.
@Suite(.timeLimit(.minutes(1)))
struct FloodTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// What such a server gets rid of between two looks of a task on the loop, in bytes and not in time, so that it
    /// does not matter how busy the machine is. Nobody but the loop reads, and a turn of it reads no more than a part
    /// of this.
    @Test func aServerThatNeverPausesLeavesTheLoopToOthers() async throws {
        // One chunk's extension, which never ends and of which nothing is handed on.
        try await withServer([.readHead, .send("\(Self.head)2;"), .fill(1 << 40)]) { server in
            try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop)
                let response = try await HTTPClient(transport: transport).get(server.url())
                let reading = Task { _ = try await response.body.discard() }
                let clock = LoopClock(on: loop)
                let most = try await withTaskExecutorPreference(loop) {
                    var (most, last) = (0, server.connections[0].filled)
                    for _ in 0..<20 {
                        try await clock.sleep(for: .milliseconds(1))
                        let now = server.connections[0].filled
                        (most, last) = (max(most, now - last), now)
                    }
                    return most
                }
                reading.cancel()
                await transport.shutdown()
                #expect(most < 256 << 20)
            }
        }
    }
}
