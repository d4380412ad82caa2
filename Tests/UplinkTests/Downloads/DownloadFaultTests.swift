// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

@testable import Uplink

/// Servers that misbehave, over real connections: the file is whole and right, or absent with a clear error.
@Suite(.timeLimit(.minutes(1)))
struct DownloadFaultTests {
    static let content = DownloadScene.content(300_000)
    static let other = DownloadScene.content(200_000, version: 2)

    /// What a test has: a server, a client, a directory.
    struct Scene {
        let server: FileServer
        let client: HTTPClient
        let directory: TemporaryDirectory

        var target: FilePath { directory.path.appending("disk.iso") }

        var options: DownloadOptions {
            var options = DownloadOptions()
            options.requirement = nil  // the server is on this host
            options.backOff.initialPause = .milliseconds(1)
            options.backOff.maximumPause = .milliseconds(20)
            return options
        }

        @discardableResult
        func download(_ change: (inout DownloadOptions) -> Void = { _ in }) async throws -> DownloadedFile {
            var options = options
            change(&options)
            return try await client.download(server.url(), to: target, within: .seconds(50), options: options)
        }

        func expect(_ content: [UInt8]) throws {
            #expect(directory.holds("disk.iso", content))
            #expect(directory.names == ["disk.iso"])
        }
    }

    static func with(
        _ server: FileServer, timeouts: HTTPTimeouts = .init(), _ body: (Scene) async throws -> Void
    ) async throws {
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var configuration = HTTPClient.Configuration()
        configuration.timeouts = timeouts
        try await withHTTPClient(configuration: configuration) { client in
            try await body(Scene(server: server, client: client, directory: directory))
        }
    }

    @Test(arguments: [false, true])
    func aBodyThatIsCutIsGoneOnWith(reset: Bool) async throws {
        let server = try FileServer(
            Self.content, .cut(after: 100_000, reset: reset), .cut(after: 1, reset: reset), .cut(after: 50_000))
        try await Self.with(server) { scene in
            let file = try await scene.download { $0.checksum = .sha256() }
            try scene.expect(Self.content)
            // A reset may take bytes with it that were on their way.
            #expect(file.attempts == 4)
            #expect(file.restarts == 0 || reset)
            var checksum = SHA256()
            checksum.update(Self.content)
            #expect(file.checksum == checksum.finish())
        }
    }

    @Test func aServerThatIgnoresRangesGivesTheWhole() async throws {
        let server = try FileServer(Self.content, .cut(after: 100_000), .ignoringRange)
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect((file.attempts, file.resumptions, file.restarts) == (2, 0, 1))
        }
    }

    @Test(arguments: [
        "bytes 99999-299999/300000", "bytes 0-299999/300000", "bytes 100000-299999/300001",
        "bytes 100001-299999/300000",
        "nonsense",
    ])
    func aLieInContentRangeIsNotBelieved(range: String) async throws {
        let lie: @Sendable (String) -> String = { head in
            head.split(separator: "\r\n", omittingEmptySubsequences: false)
                .map { $0.hasPrefix("Content-Range") ? "Content-Range: \(range)" : $0 }.joined(separator: "\r\n")
        }
        let server = try FileServer(Self.content, .cut(after: 100_000), .lying(lie))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect((file.attempts, file.restarts) == (3, 1))
            #expect(scene.server.ranges == [nil, "bytes=100000-", nil])
        }
    }

    @Test(arguments: ["W/\"v1\"", nil])
    func aWeakValidatorMeansToBeginAnew(tag: String?) async throws {
        let server = try FileServer(Self.content, tag: tag, .cut(after: 100_000))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect(file.restarts == 1)
            #expect(scene.server.ranges == [nil, nil])
        }
    }

    @Test(arguments: [200_000, 50_000])
    func aFileThatChangesBetweenAttemptsIsTakenAnew(size: Int) async throws {
        let server = try FileServer(Self.content, .hold(after: 100_000))
        try await Self.with(server) { scene in
            let other = Array(Self.other.prefix(size))
            let download = scene.client.startDownload(
                scene.server.url(), to: scene.target, within: .seconds(50), options: scene.options)
            try await eventually { download.currentProgress.receivedBytes == 100_000 }
            scene.server.stop()
            scene.server.change(to: other, tag: "\"v2\"")
            try scene.server.start()
            let file = try await download.value
            try scene.expect(other)
            #expect((file.byteCount, file.restarts) == (Int64(size), 1))
        }
    }

    @Test func aServerThatOverlooksIfRangeIsSeenThrough() async throws {
        // The file has changed, and it gives a part of the new one nevertheless.
        let server = try FileServer(Self.content, .cut(after: 100_000))
        try await Self.with(server) { scene in
            scene.server.next(
                .raw(
                    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 100000-299999/300000\r\nETag: \"v2\"\r\n"
                        + "Content-Length: 200000\r\n\r\nwrong"))
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect(file.restarts == 1)
            #expect(scene.server.ranges == [nil, "bytes=100000-", nil])
        }
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let busy =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try FileServer(Self.content, .raw(busy), .cut(after: 100_000), .raw(busy), .raw(busy))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect((file.attempts, file.resumptions) == (5, 1))
        }
    }

    @Test func aRedirectToAnotherPlaceBeginsAnewAndOneToTheSameGoesOn() async throws {
        let server = try FileServer(
            Self.content, .redirect(to: "/mirror-1?key=1"), .cut(after: 100_000), .redirect(to: "/mirror-1?key=2"),
            .cut(after: 100_000), .redirect(to: "/mirror-2?key=3"))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect((file.resumptions, file.restarts) == (1, 1))
            #expect(file.url == scene.server.url())  // no redirect at last
        }
    }

    @Test func severalPartsAreRefused() async throws {
        let parts =
            "HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=b\r\nETag: \"v1\"\r\n"
            + "Content-Range: bytes 100000-299999/300000\r\nContent-Length: 200000\r\n\r\n--b\r\n"
        let server = try FileServer(Self.content, .cut(after: 100_000), .raw(parts))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect(file.restarts == 1)
            #expect(scene.server.ranges == [nil, "bytes=100000-", nil])
        }
    }

    @Test func aSuddenNothingIsNotBelieved() async throws {
        let nothing = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try FileServer(Self.content, .cut(after: 100_000), .raw(nothing))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect((file.resumptions, file.restarts) == (1, 0))
            #expect(scene.server.ranges == [nil, "bytes=100000-", "bytes=100000-"])
        }
    }

    @Test func aServerThatAlwaysLiesEndsInAClearError() async throws {
        let server = try FileServer(Self.content)
        for _ in 0..<4 {
            server.next(.cut(after: 1000), .lying { $0.replacing("bytes 1000-", with: "bytes 1001-") })
        }
        try await Self.with(server) { scene in
            let error = await #expect(throws: DownloadError.self) {
                try await scene.download { $0.maximumRestarts = 3 }
            }
            #expect(error?.code == .tooManyRestarts)
            #expect(scene.directory.names.isEmpty)
        }
    }

    @Test func aServerThatFallsSilentIsLeft() async throws {
        let server = try FileServer(Self.content, .hold(after: 100_000))
        try await Self.with(server, timeouts: .init(stall: .milliseconds(500))) { scene in
            let file = try await scene.download()
            try scene.expect(Self.content)
            #expect(file.resumptions >= 1)
        }
    }

    @Test func aServerThatStartsAgainIsGoneOnWith() async throws {
        let server = try FileServer(Self.content, .hold(after: 100_000))
        try await Self.with(server) { scene in
            let download = scene.client.startDownload(
                scene.server.url(), to: scene.target, within: .seconds(50), options: scene.options)
            try await eventually { download.currentProgress.receivedBytes == 100_000 }
            scene.server.stop()
            try await eventually("an attempt fails") { download.currentProgress.attempt >= 3 }
            try scene.server.start()
            #expect(try await download.value.resumptions == 1)
            try scene.expect(Self.content)
        }
    }

    @Test func chunksWithoutALengthAreGoneOnWith() async throws {
        let begin = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        let content = Array(repeating: UInt8(ascii: "x"), count: 20)
        let server = try FileServer(content, .raw(begin + "a\r\nxxxxxxxxxx\r\n"))
        try await Self.with(server) { scene in
            let file = try await scene.download()
            try scene.expect(content)
            #expect(scene.server.ranges == [nil, "bytes=10-"])
            #expect(file.byteCount == 20)
        }
    }

    @Test func aBodyWithoutAnEndIsRefused() async throws {
        let server = try FileServer(Self.content, .raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"))
        try await Self.with(server) { scene in
            let error = await #expect(throws: DownloadError.self) { try await scene.download() }
            #expect(error?.code == .unframedBody)
            #expect(scene.directory.names.isEmpty)
        }
    }

    @Test func whatIsTooLargeIsNotWrittenAtAll() async throws {
        let server = try FileServer(Self.content)
        try await Self.with(server) { scene in
            let error = await #expect(throws: DownloadError.self) {
                try await scene.download { $0.maximumSize = 299_999 }
            }
            #expect(error?.code == .tooLarge)
            #expect(scene.directory.names.isEmpty)
        }
    }
}
