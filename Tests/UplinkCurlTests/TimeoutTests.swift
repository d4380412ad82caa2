// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Real time, because the timers of libuv and libcurl are what is tested.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct TimeoutTests {
    private let tolerance = Duration.milliseconds(50)

    private func expect(
        _ code: HTTPClientError.Code, after limit: Duration, _ phase: HTTPClientError.Phase,
        _ body: () async throws -> Void
    ) async {
        let (error, time) = await failure(body)
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.phase == phase)
        #expect(time >= limit)
        #expect(time < limit + tolerance, "late by \(time - limit)")
    }

    @Test func connecting() async throws {
        let blackhole = try Blackhole()
        defer { blackhole.stop() }
        try await withClient { client, _ in
            await expect(.connectTimeout, after: .milliseconds(230), .connect) {
                _ = try await client.get(blackhole.url(), timeouts: HTTPTimeouts(connect: .milliseconds(230)))
            }
        }
    }

    @Test func waitingForTheHead() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { client, _ in
                await expect(.firstByteTimeout, after: .milliseconds(170), .firstByte) {
                    _ = try await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .milliseconds(170)))
                }
            }
        }
    }

    @Test func stallingInTheBody() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        try await withServer([.readHead, .send(head), .waitForClose]) { server in
            try await withClient { client, _ in
                let response = try await client.get(
                    server.url(), timeouts: HTTPTimeouts(stall: .milliseconds(150)))
                let start = ContinuousClock.now
                let (error, _) = await failure { _ = try await response.body.discard() }
                #expect(error?.code == .stallTimeout)
                #expect(ContinuousClock.now - start < .milliseconds(150) + tolerance)
            }
        }
    }

    @Test func aSlowBodyStallsNotButHasATotal() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
        let drip = (0..<20).flatMap { _ in [RawServer.Step.send("x"), .pause(.milliseconds(60))] }
        try await withServer([.readHead, .send(head)] + drip + [.waitForClose]) { server in
            try await withClient { client, _ in
                await expect(.totalTimeout, after: .milliseconds(400), .body) {
                    let timeouts = HTTPTimeouts(stall: .milliseconds(200), total: .milliseconds(400))
                    _ = try await client.get(server.url(), timeouts: timeouts).body.discard()
                }
            }
        }
    }

    @Test func collectingHasALimitOfItsOwn() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        try await withServer([.readHead, .send(head), .waitForClose]) { server in
            try await withClient { client, _ in
                let response = try await client.get(server.url())
                await expect(.totalTimeout, after: .milliseconds(120), .body) {
                    _ = try await response.body.collect(upTo: 9, within: .milliseconds(120))
                }
            }
        }
    }

    @Test func queueing() async throws {
        var transport = CurlTransport.Configuration()
        transport.maximumConcurrentTransfers = 1
        transport.maximumQueuedTransfers = 1
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient(transport: transport) { client, _ in
                let first = Task { try await client.get(server.url()) }
                while server.heads.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                let timeouts = HTTPTimeouts(queue: .milliseconds(130))
                async let second: Void = expect(.queueTimeout, after: .milliseconds(130), .queue) {
                    _ = try await client.get(server.url(), timeouts: timeouts)
                }
                try await Task.sleep(for: .milliseconds(50))
                let (error, _) = await failure { _ = try await client.get(server.url(), timeouts: timeouts) }
                #expect(error?.code == .queueFull)
                await second
                first.cancel()
                await #expect(throws: CancellationError.self) { _ = try await first.value }
            }
        }
    }

    @Test func aNegativeTimeoutIsAnError() async throws {
        try await withClient { client, _ in
            let (error, _) = await failure {
                _ = try await client.get("http://127.0.0.1/", timeouts: HTTPTimeouts(stall: .seconds(-1)))
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("stall") == true)
        }
    }

    @Test func anIdleWaitCostsNoTimeOfTheProcessor() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { client, _ in
                _ = try? await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .milliseconds(10)))
                let before = Self.loopTime
                _ = try? await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .seconds(2)))
                let used = Self.loopTime - before
                #expect(used < .milliseconds(20), "the wait used \(used)")
            }
        }
    }

    /// What this process's loops have used of the processor: other tests run in other threads.
    private static var loopTime: Duration {
        var total = 0
        for number in (try? threads()) ?? [] {
            guard contents("/proc/self/task/\(number)/comm") == "uplink-loop\n" else { continue }
            let fields = contents("/proc/self/task/\(number)/schedstat").split(separator: " ")
            total += fields.first.flatMap { Int($0) } ?? 0
        }
        return .nanoseconds(total)
    }

    private static func threads() throws -> [String] {
        guard let directory = opendir("/proc/self/task") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { $0.first?.isNumber == true }
    }

    private static func contents(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
