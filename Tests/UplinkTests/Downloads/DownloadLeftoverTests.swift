// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// What an attempt or a run leaves for the next one, and what that makes of it.
@Suite(.timeLimit(.minutes(1)))
struct DownloadLeftoverTests {
    /// A download of which 400 bytes have come, with more to be expected.
    private func started(_ scene: DownloadScene, with fields: HTTPFields = [:]) async throws -> Download {
        var fields = fields
        fields[.eTag] = "\"v1\""
        fields[.contentLength] = "\(scene.content.count)"
        scene.transport.answer(scene.url, .stalled(after: [Array(scene.content[..<400])], headers: fields))
        let download = scene.start()
        try await eventually { download.currentProgress.receivedBytes == 400 }
        return download
    }

    /// By the fields of content negotiation the server may have selected something else for the same URL.
    @Test(arguments: ["de", "en"])
    func whatWasAskedForInAnotherWayIsNotGoneOnWith(language: String) async throws {
        try await DownloadScene.with { scene in
            func start(_ language: String) -> Download {
                scene.client.startDownload(
                    scene.url, to: scene.target, within: .seconds(60), headers: [.acceptLanguage: language],
                    options: scene.options)
            }
            scene.transport.answer(scene.url, scene.cut(after: 400), scene.whole)
            let first = start("de")
            try await eventually { first.currentProgress.receivedBytes == 400 }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            if language == "de" { scene.transport.answer(scene.url, scene.rest(from: 400)) }
            let file = try await start(language).value
            #expect(file.resumptions == (language == "de" ? 1 : 0))
            #expect(scene.ranges == [nil, language == "de" ? "bytes=400-" : nil])
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    /// A 206 may leave `Content-Encoding` out (RFC 9110, section 15.3.7).
    @Test func theCodingsAreThoseOfTheBeginningAlsoInTheSameRun() async throws {
        try await DownloadScene.with { scene in
            let download = try await started(scene, with: [.contentEncoding: "gzip"])
            scene.transport.answer(scene.url, scene.rest(from: 400))
            scene.monitor.goOffline(.noInterface)
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            scene.monitor.goOnline()
            let file = try await download.value
            #expect(file.resumptions == 1)
            #expect(file.head?.status == .partialContent)
            #expect(file.contentCodings == ["gzip"])
        }
    }

    @Test func theCodingsAreThoseOfTheBeginningAlsoInAnotherRun() async throws {
        try await DownloadScene.with { scene in
            let first = try await started(scene, with: [.contentEncoding: "gzip"])
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            scene.transport.answer(scene.url, scene.rest(from: 400))
            let file = try await scene.start().value
            #expect(file.resumptions == 1)
            #expect(file.head?.status == .partialContent)
            #expect(file.contentCodings == ["gzip"])
        }
    }

    /// With another mode, as file systems without modes show it, nothing is taken over.
    @Test(arguments: [0o600, 0o755] as [mode_t])
    func whatIsSaidToBeKeptIsWhatTheNextRunTakesOver(mode: mode_t) async throws {
        try await DownloadScene.with { scene in
            let first = try await started(scene)
            #expect(chmod(scene.directory.path.appending(".disk.iso.uplink-part").string, mode) == 0)
            try await scene.clock.advance(by: .seconds(3600), patience: .seconds(30))
            let error = await #expect(throws: DownloadError.self) { try await first.value }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.keptBytes == (mode == 0o600 ? 400 : 0))
            #expect(scene.directory.names.isEmpty == (mode != 0o600))
            scene.transport.answer(scene.url, mode == 0o600 ? scene.rest(from: 400) : scene.whole)
            let file = try await scene.start().value
            #expect(file.byteCount - file.transferredBytes == error?.keptBytes)
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func whatCannotBeReadIsForgottenAndFetchedAnew() async throws {
        try await DownloadScene.with { scene in
            let first = try await started(scene)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            scene.transport.answer(scene.url, scene.whole)
            // What was found is gone when it is read, which ends as a disk's error does (EIO).
            let part = scene.directory.path.appending(".disk.iso.uplink-part").string
            let checksum = DownloadChecksum {
                truncate(part, 0)
                return SHA256()
            }
            let file = try await scene.start { $0.checksum = checksum }.value
            #expect((file.restarts, file.resumptions, file.transferredBytes) == (1, 0, 1000))
            #expect(scene.ranges == [nil, nil])
            var whole = SHA256()
            whole.update(scene.content)
            #expect(file.checksum == whole.finish())
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }
}
