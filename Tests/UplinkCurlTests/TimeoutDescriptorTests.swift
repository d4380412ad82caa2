// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// What a connection that never stood leaves behind; in a process of its own, where nobody else opens anything.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct TimeoutDescriptorTests {
    @Test func connectionsThatTimeOutLeaveNoDescriptor() async throws {
        await #expect(processExitsWith: .success) {
            try await Task.sleep(for: .milliseconds(1))  // libdispatch opens what it needs with its first timer
            let blackhole = try Blackhole()
            defer { blackhole.stop() }
            try await withClient { client, transport in
                let timeouts = HTTPTimeouts(connect: .milliseconds(60))
                var base = 0
                for round in 0..<10 {
                    do {
                        _ = try await client.get(blackhole.url(), timeouts: timeouts)
                        exit(2)
                    } catch let error as HTTPClientError {
                        if error.code != .connectTimeout { exit(3) }
                    }
                    let (transfers, sockets) = await transport.census()
                    if transfers != 0 || sockets != 0 { exit(4) }
                    // What the transport itself keeps comes with the first one.
                    if round == 0 { base = Census().descriptors }
                    try await eventually(within: .seconds(5), "round \(round): \(base) descriptors") {
                        Census().descriptors <= base
                    }
                }
            }
        }
    }
}
