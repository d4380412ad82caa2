// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// What a server puts into the records of TLS, where the kernel does not see it.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: NginxServer.isInstalled || Spawn.isCI, "nginx and openssl are needed: apt install nginx-light openssl")
)
struct TLSRecordTests {
    private func configuration(_ directory: TemporaryDirectory) -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.trust = .authorities(directory.path.appending("ca.pem"))
        return configuration
    }

    /// The answer fills one record of TLS, and what must not be there the next ones.
    @Test func whatComesBeyondTheEndIsNotTheNextAnswer() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 16300\r\n"
        let padding = "X-Padding: " + String(repeating: "x", count: 16_384 - 16_300 - head.utf8.count - 15) + "\r\n\r\n"
        let answer = head + padding + String(repeating: "r", count: 16_300)
        #expect(answer.utf8.count == 16_384)
        let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
        let server = try OpenSSLServer([], answer: Array((answer + String(repeating: wrong, count: 10_000)).utf8))
        defer { server.stop() }
        var transport = CurlTransport.Configuration()
        transport.trust = .authorities(server.file("ca.pem"))
        transport.maximumConcurrentTransfersPerHost = 1
        try await withClient(transport: transport) { client, _ in
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var options = HTTPRequestOptions()
                        // Holds the loop up until all that the server sends has come.
                        options.observer = { if case .connected = $0 { usleep(100_000) } }
                        let response = try await client.get(server.url("/answer"), options: options)
                        return try await response.body.collect(upTo: 16_300)
                    }
                }
                for try await body in group { #expect(body.count == 16_300 && Set(body) == [UInt8(ascii: "r")]) }
            }
        }
    }

    /// The same with chunks, all in one record, of which libcurl's buffer takes only a part if it is too small.
    @Test func whatComesBehindTheLastChunkIsNotTheNextAnswer() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await offPool { try Certificates.make(in: directory) }
        let (record, smallest) = (16_384, 16_320)
        let (head, end) = ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "\r\n0\r\n\r\n")
        let size = smallest - head.utf8.count - end.utf8.count - 6
        let answer = "\(head)\(String(size, radix: 16))\r\n\(String(repeating: "r", count: size))\(end)"
        let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n" + String(repeating: "w", count: 25)
        #expect(answer.utf8.count == smallest && wrong.utf8.count == record - smallest)
        try await withServer([.readHead, .send(answer + wrong), .loop]) { server in
            let front = try TLSFront(to: server.port, certificates: directory.path)
            defer { front.stop() }
            var transport = configuration(directory)
            transport.maximumBufferedBytes = 65_536  // so that the buffer is as small as it can be
            try await withClient(transport: transport) { client, _ in
                for _ in 0..<3 {
                    let response = try await client.get("https://127.0.0.1:\(front.port)/")
                    let body = try await response.body.collect(upTo: record)
                    #expect(body.count == size && Set(body) == [UInt8(ascii: "r")])
                }
            }
            #expect(server.connections.count == 3)
        }
    }

    /// OpenSSL would handle one after the other as long as there are more, and nothing else could happen on the loop.
    @Test func ticketsWithoutEndLeaveTheLoopToOthers() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await offPool { try Certificates.make(in: directory) }
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]) { server in
            let front = try TLSFront(to: server.port, certificates: directory.path, tickets: 40_000)
            defer { front.stop() }
            let limit = Timing.slack(.milliseconds(150))
            let longest = try await Timing.measure({ $0 < limit }) {
                try await withEventLoop { loop in
                    let transport = try CurlTransport(on: loop, configuration: configuration(directory))
                    let client = HTTPClient(transport: transport)
                    let longest = try await withThrowingTaskGroup { group in
                        group.addTask(executorPreference: loop) { try await longestTurn(of: loop) }
                        let body = try await client.get("https://127.0.0.1:\(front.port)/").body.collect(upTo: 2)
                        #expect(body == Array("ok".utf8))
                        group.cancelAll()
                        return try await group.next()
                    }
                    await transport.shutdown()
                    return try #require(longest)
                }
            }
            #expect(longest < limit, "\(longest)")
        }
    }

    /// Looks at the time once a millisecond, on the loop, until it is cancelled; the longest time between two looks.
    private func longestTurn(of loop: EventLoop) async throws -> Duration {
        let clock = LoopClock(on: loop)
        var (longest, last) = (Duration.zero, ContinuousClock.now)
        while !Task.isCancelled {
            try? await clock.sleep(for: .milliseconds(1))
            let now = ContinuousClock.now
            (longest, last) = (max(longest, now - last), now)
        }
        return longest
    }

    /// It is not the server's certificate that is signed by itself.
    @Test func anUnknownAuthorityThatComesAlongIsNotTrusted() async throws {
        let (directory, shown) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer { for directory in [directory, shown] { directory.remove() } }
        try await offPool { try Certificates.make(in: directory) }
        try shown.write("good.pem", try directory.read("good.pem") + directory.read("ca.pem"))
        try shown.write("good.key", try directory.read("good.key"))
        try await withServer([.readHead]) { server in
            let front = try TLSFront(to: server.port, certificates: shown.path)
            defer { front.stop() }
            var transport = CurlTransport.Configuration()
            transport.trust = .authorities(directory.path.appending("self.pem"))
            try await withClient(transport: transport) { client, _ in
                let (error, _) = await failure { _ = try await client.get("https://127.0.0.1:\(front.port)/") }
                #expect(error?.code == .certificateUntrusted, "\(String(describing: error))")
            }
            #expect(server.heads.isEmpty)
        }
    }
}
