// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkHTTP

@testable import UplinkCurl

/// A resolver that never answers (`withSilentResolver`).
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct ResolverTests {
    @Test func whoWaitsForAnothersLookupHasTheirOwnConnectTimeout() async throws {
        try await withSilentResolver(limit: 2) { client, transport, server in
            // The first two have all the places there are; the third gets one when the first goes.
            let first = Task { try await client.get("http://first.silent.test:\(server.port)/") }
            let second = Task { try await client.get("http://silent.test:\(server.port)/") }
            try await eventually { await transport.census().transfers == 2 }
            var timeouts = HTTPTimeouts()
            timeouts.connect = .milliseconds(500)
            let third = Task { [timeouts] in
                try await client.get("http://silent.test:\(server.port)/", timeouts: timeouts)
            }
            try await eventually { await transport.census().transfers == 3 }
            first.cancel()
            _ = await first.result
            let (error, time) = await failure { _ = try await third.value }
            #expect(error?.code == .connectTimeout)
            #expect(time < .seconds(5))
            second.cancel()
            _ = await second.result
        }
    }

    /// Threads that libcurl's resolver has started: they have their parent's name and are not it.
    private var lookups: Int { Threads.count(named: "uplink-loop") }

    @Test func cancellingALookupHoldsNobodyUp() async throws {
        try await withSilentResolver { client, transport, server in
            let waiting = Task { try await client.get("http://slow.test/") }
            try await eventually { await transport.census().sockets > 0 }
            try await Task.sleep(for: .milliseconds(50))
            let before = ContinuousClock.now
            waiting.cancel()
            for _ in 0..<50 {
                let start = ContinuousClock.now
                let body = try await client.get(server.url()).body.collect(upTo: 2)
                #expect(body == Array("ok".utf8))
                #expect(ContinuousClock.now - start < Timing.slack(.milliseconds(500)))
            }
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(ContinuousClock.now - before < Timing.slack(.milliseconds(500)))
        }
    }

    /// Names that nobody answers hold up no host that libcurl knows, though it is asked for by its name.
    @Test func knownHostsDoNotWaitForLookups() async throws {
        try await withSilentResolver { client, transport, server in
            let url = "http://localhost:\(server.port)/"
            #expect(try await client.get(url).body.collect(upTo: 2) == Array("ok".utf8))
            let silent = (0..<8).map { number in Task { try await client.get("http://silent\(number).test/") } }
            try await eventually { await transport.census().transfers == 8 }
            let start = ContinuousClock.now
            for _ in 0..<3 { #expect(try await client.get(url).body.collect(upTo: 2) == Array("ok".utf8)) }
            #expect(ContinuousClock.now - start < Timing.slack(.seconds(2)))
            for task in silent {
                task.cancel()
                _ = await task.result
            }
        }
    }

    @Test func lookupsTimeOutInTime() async throws {
        try await withSilentResolver { client, transport, _ in
            let limit = Duration.milliseconds(300) + Timing.slack(.milliseconds(50))
            let time = await Timing.measure({ $0 < limit }) {
                let (error, time) = await failure {
                    _ = try await client.get("http://slow.test/", timeouts: HTTPTimeouts(connect: .milliseconds(300)))
                }
                #expect(error?.code == .connectTimeout)
                #expect(error?.phase == .dns)
                #expect(error?.requestDisposition == .notSent)
                return time
            }
            #expect(time < limit, "\(time)")
            #expect(await transport.census().transfers == 0)
        }
    }

    @Test func manyTransfersToOneHostAreOneLookup() async throws {
        try await withSilentResolver { client, transport, _ in
            let before = lookups
            let many = (0..<500).map { _ in Task { try await client.get("http://slow.test/") } }
            try await eventually { await transport.census().transfers == 500 }
            try await Task.sleep(for: .milliseconds(100))
            #expect(lookups - before >= 1)
            #expect(lookups - before <= 2)
            let start = ContinuousClock.now
            for task in many { task.cancel() }
            for task in many { await #expect(throws: CancellationError.self) { try await task.value } }
            #expect(ContinuousClock.now - start < Timing.slack(.milliseconds(500)))
            #expect(await transport.census() == (0, 0))
        }
    }

    /// One that waits in vain for its name, and fifty meanwhile that need none.
    @Test func aSilentResolverHoldsNobodyUp() async throws {
        let limit = Timing.limit(
            Timing.slack(.milliseconds(100)), otherwise: Timing.slack(.milliseconds(500)))
        try await withSilentResolver { client, transport, server in
            let waiting = Task { _ = try await client.get("http://slow.test/") }
            try await eventually { await transport.census().sockets > 0 }
            let slowest = try await Timing.measure({ $0 < limit }) {
                let healthy = (0..<50).map { _ in
                    Task {
                        let start = ContinuousClock.now
                        let body = try await client.get(server.url()).body.collect(upTo: 2)
                        #expect(body == Array("ok".utf8))
                        return ContinuousClock.now - start
                    }
                }
                var slowest = Duration.zero
                for task in healthy {
                    let time = try await task.value
                    slowest = max(slowest, time)
                }
                return slowest
            }
            #expect(slowest < limit, "\(slowest)")
            try await eventually("the one still waits") { await transport.census().transfers == 1 }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func fiveHundredNamesAreNotFiveHundredThreads() async throws {
        try await withSilentResolver { client, transport, _ in
            let before = lookups
            let many = (0..<500).map { number in Task { try await client.get("http://slow\(number).test/") } }
            try await eventually { await transport.census().transfers == 500 }
            try await eventually { lookups - before >= 1 }
            try await Task.sleep(for: .milliseconds(100))
            let allowed = CurlTransport.Configuration().maximumConcurrentLookups * LibCurl.threadsPerLookup
            #expect(lookups - before <= allowed)
            for task in many { task.cancel() }
            for task in many { await #expect(throws: CancellationError.self) { try await task.value } }
        }
    }
}
