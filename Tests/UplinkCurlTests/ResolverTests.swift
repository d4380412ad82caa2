// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkTesting

/// A resolver that never answers, in a namespace where the system's name server is a silent socket of the test.
@Suite(
    .timeLimit(.minutes(1)), .undisturbed, .serialized,
    .needsNetworkNamespaces)
struct ResolverTests {
    /// The name server that `getaddrinfo` asks, if it is one that a loopback interface can take over.
    private static let nameServer: String? = {
        guard let file = fopen("/etc/resolv.conf", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            guard words.first == "nameserver", words.count > 1 else { continue }
            let address = IPAddress(String(words[1]))
            if let address, address.family == .ipv4 { return address.description }
        }
        return nil
    }()

    /// Runs `body` with a client and a server in such a namespace.
    private func withSilentResolver(
        limit: Int = 128, _ body: (HTTPClient, CurlTransport, RawServer) async throws -> Void
    ) async throws {
        let nameServer = try #require(Self.nameServer, "no IPv4 name server in /etc/resolv.conf")
        try await withNetworkNamespaces { namespace, _ in
            try namespace.ip("link set lo up")
            try namespace.ip("addr add \(nameServer)/32 dev lo")
            try await withEventLoop(networkNamespace: namespace.name) { loop in
                // On the loop's thread, because sockets and threads made there belong to the namespace.
                let (sink, server) = try await onLoop(loop) {
                    (
                        try Self.silentSocket(at: nameServer),
                        try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop])
                    )
                }
                defer {
                    server.stop()
                    close(sink)
                }
                var configuration = CurlTransport.Configuration()
                configuration.maximumConcurrentTransfersPerHost = 128
                configuration.maximumConcurrentTransfers = limit
                let transport = try CurlTransport(on: loop, configuration: configuration)
                try await body(HTTPClient(transport: transport), transport, server)
                await transport.shutdown()
            }
        }
    }

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

    private func onLoop<Result: Sendable>(
        _ loop: EventLoop, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: .init(catching: work)) }
        }
    }

    private static func silentSocket(at address: String) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(53).bigEndian
        name.sin_addr.s_addr = inet_addr(address)
        let status = withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw RawServer.Failure(activity: "binding \(address):53", errno: errno) }
        return descriptor
    }

    /// Threads that libcurl's resolver has started: they have their parent's name and are not it.
    private var lookups: Int { Threads.count(named: "uplink-loop") }

    @Test func cancellingALookupHoldsNobodyUp() async throws {
        try await withSilentResolver { client, transport, server in
            let waiting = Task { try await client.get("http://slow.test/") }
            while await transport.census().sockets == 0 { try await Task.sleep(for: .milliseconds(1)) }
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
            while await transport.census().transfers < 500 { try await Task.sleep(for: .milliseconds(1)) }
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
    /// One that waits in vain for its name, and fifty that need none.
    @Test func aSilentResolverHoldsNobodyUp() async throws {
        try await withSilentResolver { client, transport, server in
            let waiting = Task {
                try await client.get("http://slow.test/", timeouts: HTTPTimeouts(connect: .milliseconds(400)))
            }
            try await eventually { await transport.census().sockets > 0 }
            let healthy = (0..<50).map { _ in
                Task {
                    let start = ContinuousClock.now
                    let body = try await client.get(server.url()).body.collect(upTo: 2)
                    #expect(body == Array("ok".utf8))
                    return ContinuousClock.now - start
                }
            }
            for task in healthy { #expect(try await task.value < Timing.slack(.milliseconds(500))) }
            let error = await #expect(throws: HTTPClientError.self) { try await waiting.value }
            #expect(error?.code == .connectTimeout)
        }
    }

    @Test func fiveHundredNamesAreNotFiveHundredThreads() async throws {
        try await withSilentResolver { client, transport, _ in
            let before = lookups
            let many = (0..<500).map { number in Task { try await client.get("http://slow\(number).test/") } }
            try await eventually { await transport.census().transfers == 500 }
            try await eventually { lookups - before >= 1 }
            try await Task.sleep(for: .milliseconds(100))
            #expect(lookups - before <= CurlTransport.Configuration().maximumConcurrentLookups)
            for task in many { task.cancel() }
            for task in many { await #expect(throws: CancellationError.self) { try await task.value } }
        }
    }
}
