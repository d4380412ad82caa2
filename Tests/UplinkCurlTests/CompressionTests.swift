// SPDX-License-Identifier: Apache-2.0
#if Compression
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// gzip and deflate from real servers (trait `Compression`).
@Suite(.timeLimit(.minutes(1)))
struct CompressionTests {
    /// Compresses with gzip(1).
    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("plain", bytes)
        let status = try Spawn.run(["sh", "-c", "cd \(directory.path) && gzip -9n plain"], in: directory.path)
        try #require(status == 0)
        return try directory.read("plain.gz")
    }

    /// The raw deflate stream in a gzip file without a name.
    private static func raw(_ gzip: [UInt8]) -> [UInt8] { Array(gzip.dropFirst(10).dropLast(8)) }

    /// The same with zlib's wrapping (RFC 1950).
    private static func wrapped(_ gzip: [UInt8], of plain: [UInt8]) -> [UInt8] {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in plain {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        let sum = (high << 16 | low).bigEndian
        return [0x78, 0xDA] + raw(gzip) + withUnsafeBytes(of: sum) { Array($0) }
    }

    private static let text = Array(
        (0..<20_000).map { "line \($0) of what is to be compressed\n" }.joined().utf8)

    private func server(_ body: [UInt8], coding: String, length: Int? = nil) throws -> RawServer {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(length ?? body.count)\r\n\r\n"
        return try RawServer([.readHead, .send(head), .send(body), .loop])
    }

    private func fetch(
        _ body: [UInt8], coding: String, upTo maximum: Int = 1 << 24,
        configuration: HTTPClient.Configuration = .init()
    ) async throws -> [UInt8] {
        let server = try server(body, coding: coding)
        defer { server.stop() }
        return try await withClient(configuration) { client, _ in
            let response = try await client.get(server.url())
            #expect(response.body.contentLength == nil)
            return try await response.body.collect(upTo: maximum)
        }
    }

    @Test func codingsAreAskedForAndUndone() async throws {
        let gzip = try Self.gzip(Self.text)
        #expect(try await fetch(gzip, coding: "gzip") == Self.text)
        #expect(try await fetch(Self.raw(gzip), coding: "deflate") == Self.text)
        #expect(try await fetch(Self.wrapped(gzip, of: Self.text), coding: "deflate") == Self.text)
        #expect(try await fetch(Self.gzip(gzip), coding: "gzip, gzip") == Self.text)
        #expect(try await fetch(gzip + gzip, coding: "gzip") == Self.text + Self.text)
    }

    /// Reads bodies as they come, before they are decoded.
    private struct Checksumming: HTTPMiddleware {
        func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
            var response = try await next(request)
            response.body = response.body.checksummed(with: SHA256()).body
            return response
        }
    }

    /// Whoever follows a request whose body proves damaged while it arrives is told so, and not that it was cancelled,
    /// also behind a middleware that reads the body.
    @Test(arguments: [[], [Checksumming()]] as [[any HTTPMiddleware]])
    func whatIsDamagedIsToldAsSuch(middlewares: [any HTTPMiddleware]) async throws {
        let server = try RawServer([
            .readHead,
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100000\r\n\r\nno gzip at all"),
            .waitForClose,
        ])
        defer { server.stop() }
        let recorder = Recorder()
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = middlewares
        try await withClient(configuration) { client, _ in
            var options = HTTPRequestOptions()
            options.observer = { recorder.observe($0) }
            let body = try await client.get(server.url(), options: options).body
            let error = await #expect(throws: HTTPClientError.self) { try await body.collect(upTo: 1 << 20) }
            #expect(error?.code == .invalidEncoding && error?.attempts == 1)
        }
        #expect(recorder.words.last == "failed invalidEncoding" && recorder.words.count { $0.hasPrefix("failed") } == 1)
    }

    /// The fields are left as they came, and the bytes that are counted are those that came.
    @Test func whatIsToldOfADecodedBodyIsToldOfWhatCame() async throws {
        let gzip = try Self.gzip(Self.text)
        let server = try server(gzip, coding: "gzip")
        defer { server.stop() }
        let counters = HTTPCounters()
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [.metrics(to: counters)]
        try await withClient(configuration) { client, _ in
            let events = HTTPEvents()
            let response = try await client.get(server.url(), options: HTTPRequestOptions(events: events))
            #expect(response.headerFields[.contentLength] == "\(gzip.count)")
            #expect(response.headerFields[.contentEncoding] == "gzip")
            #expect(response.body.contentLength == nil)
            #expect(try await response.body.collect(upTo: 1 << 24).count == Self.text.count)
            var timings: HTTPTimings?
            for await event in events {
                if case .finished(let told) = event { timings = told }
            }
            #expect(timings?.receivedBytes == Int64(gzip.count))
            try await eventually { counters.counts.requests == 1 }
        }
        #expect(counters.counts.receivedBytes == Int64(gzip.count))
        #expect(gzip.count < Self.text.count)
    }

    @Test func aCancelledReaderGetsNoMoreOfWhatIsHereAlready() async throws {
        let server = try server(Self.gzip(Self.text), coding: "gzip")
        defer { server.stop() }
        try await withClient { client, _ in
            let body = try await client.get(server.url()).body
            let reading = Task {
                var chunks = body.makeAsyncIterator()
                #expect(try await chunks.next() != nil)
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await chunks.next()
            }
            await #expect(throws: CancellationError.self) { try await reading.value }
        }
    }

    @Test func nginxCompressesForUs() async throws {
        let nginx = try NginxServer(file: Self.text, compresses: true)
        defer { nginx.stop() }
        try await withClient { client, _ in
            let response = try await client.get(nginx.url("/file"))
            #expect(response.headerFields[.contentEncoding] == "gzip")
            #expect(try await response.body.collect(upTo: 1 << 24) == Self.text)
        }
    }

    /// The last byte is taken while the slab is full: lengths just beyond the slab's, which raw deflate ends without a
    /// trailer.
    @Test(arguments: [131_072, 131_073, 131_101, 131_150, 131_200, 131_255, 131_323, 262_200])
    func rawDeflateLosesNoTail(length: Int) async throws {
        let plain = [UInt8](repeating: 0, count: length)
        #expect(try await fetch(Self.raw(Self.gzip(plain)), coding: "deflate") == plain)
    }

    @Test func whoDoesNotWantItDecodedGetsWhatCame() async throws {
        let gzip = try Self.gzip(Self.text)
        let server = try server(gzip, coding: "gzip")
        defer { server.stop() }
        var configuration = HTTPClient.Configuration()
        configuration.decodesContent = false
        try await withClient(configuration) { client, _ in
            let bytes = try await client.get(server.url()).body.collect(upTo: 1 << 20)
            #expect(bytes == gzip)
        }
        #expect(server.heads.last?.lowercased().contains("accept-encoding") == false)
    }

    @Test(arguments: [1, 8, 10, 1000]) func whatBreaksOffIsAnErrorThoughItsLengthIsRight(bytes: Int) async throws {
        let gzip = try Self.gzip(Self.text)
        let (error, _) = await failure {
            _ = try await fetch(Array(gzip.dropLast(bytes)), coding: "gzip")
        }
        #expect(error?.code == .truncated)
    }

    @Test func whatIsNotCompressedOrDamagedIsAnError() async throws {
        let (plain, _) = await failure { _ = try await fetch(Self.text, coding: "gzip") }
        #expect(plain?.code == .invalidEncoding)
        var gzip = try Self.gzip(Self.text)
        gzip[gzip.count - 5] ^= 1  // the check sum
        let (damaged, _) = await failure { [gzip] in _ = try await fetch(gzip, coding: "gzip") }
        #expect(damaged?.code == .invalidEncoding)
        let (second, _) = await failure {
            _ = try await fetch(Self.gzip(Self.text) + [0x1F, 0x8B, 9, 0, 0], coding: "gzip")
        }
        #expect(second?.code == .invalidEncoding)
    }

    /// As in browsers.
    @Test func whatComesBehindTheEndIsPassedOver() async throws {
        let gzip = try Self.gzip(Self.text)
        let tails: [[UInt8]] = [
            [0], [0x1F], [0x1F, 0], [0x1F, 0x8C, 0, 0],
            [UInt8](repeating: 0, count: 300_000), Array("\n<!-- padding -->".utf8), [0] + gzip,
        ]
        for tail in tails {
            #expect(try await fetch(gzip + tail, coding: "gzip") == Self.text)
            #expect(try await fetch(Self.wrapped(gzip, of: Self.text) + tail, coding: "deflate") == Self.text)
        }
    }

    @Test func aBombIsFoundByItsRatioAndByTheReadersLimit() async throws {
        let bomb = try Self.gzip([UInt8](repeating: 0, count: 20 << 20))
        let (ratio, _) = await failure { _ = try await fetch(bomb, coding: "gzip", upTo: 1 << 30) }
        #expect(ratio?.code == .compressionRatioExceeded)
        var generous = HTTPClient.Configuration()
        generous.limits.compressionRatio = 2000
        let (size, _) = await failure { [generous] in
            _ = try await fetch(bomb, coding: "gzip", upTo: 1 << 20, configuration: generous)
        }
        #expect(size?.code == .bodyTooLarge)
        #expect(try await fetch(bomb, coding: "gzip", upTo: 1 << 30, configuration: generous).count == 20 << 20)
    }

    @Test func whoAsksByAFieldOfTheirOwnGetsWhatCame() async throws {
        let gzip = try Self.gzip(Self.text)
        let server = try server(gzip, coding: "gzip")
        defer { server.stop() }
        try await withClient { client, _ in
            let response = try await client.get(server.url(), headers: [.acceptEncoding: "gzip"])
            #expect(response.body.contentLength == Int64(gzip.count))
            #expect(try await response.body.collect(upTo: 1 << 20) == gzip)
            _ = try await client.get(server.url(), headers: [.range: "bytes=0-9"]).body.collect(upTo: 1 << 20)
        }
        #expect(server.heads.last?.lowercased().contains("accept-encoding") == false)
    }

    @Test func aHeadHasNothingToDecode() async throws {
        let nginx = try NginxServer(file: Self.text, compresses: true)
        defer { nginx.stop() }
        try await withClient { client, _ in
            let response = try await client.head(nginx.url("/file"))
            #expect(try await response.body.collect(upTo: 0).isEmpty)
        }
    }
}
#endif
