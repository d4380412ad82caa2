// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// The whole download over stubs: no socket, no second of real time.
@Suite(.timeLimit(.minutes(1)))
struct DownloadTests {
    @Test func aStandInCanMakeAFile() {
        let file = DownloadedFile(path: "disk.iso", byteCount: 5, url: "https://example.org/disk.iso")
        #expect((file.transferredBytes, file.attempts, file.restarts) == (5, 1, 0))
        #expect(file.head == nil && file.checksum == nil && file.contentCodings.isEmpty)
    }

    @Test func aFileIsDownloaded() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.whole)
            let file = try await scene.client.download(
                scene.url, to: scene.target, within: .seconds(60), options: scene.options)
            #expect(scene.directory.holds("disk.iso", scene.content))
            #expect(scene.directory.names == ["disk.iso"])
            #expect((file.byteCount, file.transferredBytes, file.attempts) == (1000, 1000, 1))
            #expect(file.path == scene.target)
            #expect(file.url == scene.url)
            #expect(file.head?.headerFields[.eTag] == "\"v1\"")
            #expect(file.checksum == nil)
            let request = try #require(scene.transport.requests.first)
            #expect(request.head.headerFields[.acceptEncoding] == "identity")
            #expect(request.timeouts.total == nil)
            try await eventually { scene.clock.sleepers.isEmpty }
        }
    }

    @Test func aLoopThatHasEndedIsAnErrorOfTheFile() async throws {
        let ended = try await withEventLoop { $0 }
        try await DownloadScene.with { scene in
            let error = await #expect(throws: DownloadError.self) {
                try await scene.start { $0.eventLoop = ended }.value
            }
            #expect(error?.code == .fileFailed)
            #expect((error?.underlyingError as? EventLoopError)?.code == .ended)
            #expect(scene.directory.names.isEmpty)
        }
    }

    /// As servers say of archives, too.
    @Test func whatAServerEncodesUnaskedIsKeptAsItCameAndSaid() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(
                scene.url, .response(headers: [.contentEncoding: "identity, GZip ,br"], pieces: [scene.content]))
            let file = try await scene.client.download(
                scene.url, to: scene.target, within: .seconds(60), options: scene.options)
            #expect(scene.directory.holds("disk.iso", scene.content))
            #expect(file.contentCodings == ["gzip", "br"])
        }
    }

    @Test func aCodingThatTheCallerAsksForIsAskedForEachTime() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.whole)
            _ = try await scene.client.download(
                scene.url, to: scene.target, within: .seconds(60), headers: [.acceptEncoding: "gzip"],
                options: scene.options)
            #expect(scene.transport.requests.map { $0.head.headerFields[.acceptEncoding] } == ["gzip"])
        }
    }

    @Test func aLossIsOutlivedAndTheRestIsAskedForAsSoonAsTheNetworkIsBack() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400), scene.rest(from: 400))
            let download = scene.start()
            try await eventually { download.currentProgress.receivedBytes == 400 }
            #expect(download.currentProgress.phase == .receiving)
            scene.monitor.goOffline(.noInterface)
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            #expect(download.currentProgress.trouble?.contains("no link") == true)
            #expect(scene.transport.requests.count == 1)
            scene.monitor.goOnline()
            let file = try await download.value
            #expect(scene.directory.holds("disk.iso", scene.content))
            #expect((file.attempts, file.resumptions, file.restarts, file.transferredBytes) == (2, 1, 0, 1000))
            #expect(scene.ranges == [nil, "bytes=400-"])
            #expect(scene.transport.requests[1].head.headerFields[.ifRange] == "\"v1\"")
        }
    }

    @Test func aBrokenConnectionIsTriedAgainAfterAPause() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.broken(after: 400), scene.rest(from: 400))
            let download = scene.start()
            try await scene.clock.waitForSleepers(2, patience: .seconds(30))  // the deadline, the pause
            try await eventually { download.currentProgress.phase == .pausing }
            #expect(download.currentProgress.pause == .milliseconds(250))
            #expect(download.currentProgress.trouble?.contains("broke") == true)
            scene.clock.move(by: .milliseconds(250))
            #expect(try await download.value.resumptions == 1)
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func anErrorBeforeTheFirstByteLeavesWhatAnEarlierRunHasLeft() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400), scene.rest(from: 400))
            let first = scene.start()
            try await eventually { first.currentProgress.receivedBytes == 400 }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            try await eventually { scene.directory.names.count == 2 }
            // Other URLs, and sizes that cannot be, say nothing of it.
            scene.transport.answer("https://example.org/dsik.iso", .response(.notFound))
            let wrong = await #expect(throws: DownloadError.self) {
                try await scene.client.download(
                    "https://example.org/dsik.iso", to: scene.target, within: .seconds(60), options: scene.options)
            }
            #expect(wrong?.status == 404)
            #expect(wrong?.url == "https://example.org/dsik.iso" && wrong?.target == scene.target)
            #expect(wrong.map { "\($0)" }?.hasPrefix("https://example.org/dsik.iso: ") == true)
            #expect(scene.directory.names.count == 2)
            let file = try await scene.start().value
            #expect((file.resumptions, file.transferredBytes) == (1, 600))
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func whatIsDoubtedIsGoneFromTheDiskBeforeThePause() async throws {
        try await DownloadScene.with { scene in
            let lie = StubTransport.Answer.response(
                .partialContent, headers: [.eTag: "\"v1\"", .contentRange: "bytes 0-599/1000"],
                pieces: [Array(scene.content[..<600])])
            let busy = StubTransport.Answer.response(.serviceUnavailable, headers: [.retryAfter: "20"])
            scene.transport.answer(scene.url, scene.cut(after: 400), lie, busy, scene.whole)
            let download = scene.start()
            try await eventually { download.currentProgress.receivedBytes == 400 }
            scene.monitor.goOffline(.noInterface)
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            #expect(scene.directory.names.count == 2)
            scene.monitor.goOnline()
            try await eventually { download.currentProgress.phase == .pausing }
            #expect(scene.directory.names == [".disk.iso.uplink-part"])
            #expect(scene.directory.holds(".disk.iso.uplink-part", []))
            try await scene.clock.advance(by: .seconds(20), sleepers: 2, patience: .seconds(30))
            _ = try await download.value
            #expect(scene.directory.holds("disk.iso", scene.content))
            #expect(scene.ranges == [nil, "bytes=400-", nil, nil])
        }
    }

    @Test func cancellingEndsItAndKeepsWhatCame() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400))
            let download = scene.start()
            try await eventually { download.currentProgress.receivedBytes == 400 }
            download.cancel()
            await #expect(throws: CancellationError.self) { try await download.value }
            download.cancel()
            #expect(scene.directory.names.count == 2)
            try await eventually { scene.clock.sleepers.isEmpty }
        }
    }

    @Test func cancellingTheTaskCancelsTheDownload() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400))
            let (client, url, target, options) = (scene.client, scene.url, scene.target, scene.options)
            let task = Task { try await client.download(url, to: target, within: .seconds(3600), options: options) }
            try await eventually { scene.transport.requests.count == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func withoutResumptionNothingIsLeftAndNothingIsUsed() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400))
            let kept = scene.start()
            try await eventually { kept.currentProgress.receivedBytes == 400 }
            kept.cancel()
            _ = try? await kept.value
            #expect(scene.directory.names.count == 2)
            let download = scene.start { $0.resumes = false }
            try await eventually {
                scene.transport.requests.count == 2 && download.currentProgress.receivedBytes == 400
            }
            download.cancel()
            _ = try? await download.value
            #expect(scene.ranges == [nil, nil])
            #expect(scene.directory.names.isEmpty)
        }
    }

    @Test func whatAnotherURLHasLeftIsNotUsed() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400))
            let first = scene.start()
            try await eventually { first.currentProgress.receivedBytes == 400 }
            first.cancel()
            _ = try? await first.value
            scene.transport.answer("https://example.org/other", scene.whole)
            _ = try await scene.client.download(
                "https://example.org/other", to: scene.target, within: .seconds(60), options: scene.options)
            #expect(scene.ranges == [nil, nil])
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func theDigestIsThatOfTheWholeFileHoweverItCame() async throws {
        try await DownloadScene.with(300_000) { scene in
            var checksum = SHA256()
            checksum.update(scene.content)
            let digest = checksum.finish()
            // Killed, resumed, broken, resumed.
            scene.transport.answer(scene.url, scene.cut(after: 100_000))
            let killed = scene.start()
            try await eventually { killed.currentProgress.receivedBytes == 100_000 }
            killed.cancel()
            _ = try? await killed.value
            var fields = scene.fields
            fields[.contentRange] = "bytes 100000-199999/300000"
            scene.transport.answer(
                scene.url,
                .response(.partialContent, headers: fields, pieces: [Array(scene.content[100_000..<200_000])]),
                scene.rest(from: 200_000))
            let file = try await scene.start { $0.checksum = .sha256(expecting: digest) }.value
            #expect(file.checksum == digest)
            #expect(file.resumptions == 2)
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func theDigestBeginsAnewWithTheFile() async throws {
        try await DownloadScene.with { scene in
            let other = DownloadScene.content(500, version: 2)
            var checksum = SHA256()
            checksum.update(other)
            scene.transport.answer(
                scene.url, scene.broken(after: 400), .response(.ok, headers: [.eTag: "\"v2\""], pieces: [other]))
            let download = scene.start { [digest = checksum.finish()] in $0.checksum = .sha256(expecting: digest) }
            try await scene.clock.advance(by: .milliseconds(250), sleepers: 2)
            #expect(try await download.value.restarts == 1)
            #expect(scene.directory.holds("disk.iso", other))
        }
    }

    @Test func aWrongDigestLeavesNothing() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.whole)
            let download = scene.start { $0.checksum = .sha256(expecting: [UInt8](repeating: 0, count: 32)) }
            let error = await #expect(throws: DownloadError.self) { try await download.value }
            #expect(error?.code == .checksumMismatch)
            #expect(scene.directory.names.isEmpty)
        }
    }

    @Test func aFileThatWasPutTogetherWrongIsFetchedAnew() async throws {
        try await DownloadScene.with(300_000) { scene in
            var checksum = SHA256()
            checksum.update(scene.content)
            let digest = checksum.finish()
            // The second half is another file's, under the same validator.
            var fields = scene.fields
            fields[.contentRange] = "bytes 100000-299999/300000"
            scene.transport.answer(
                scene.url, scene.broken(after: 100_000),
                .response(
                    .partialContent, headers: fields, pieces: [[UInt8](repeating: 0x20, count: 200_000)]), scene.whole)
            let download = scene.start { $0.checksum = .sha256(expecting: digest) }
            try await scene.clock.waitForSleepers(2, patience: .seconds(30))  // the deadline, the pause
            scene.clock.move(by: .milliseconds(250))
            let file = try await download.value
            #expect(file.restarts == 1)
            #expect(file.checksum == digest)
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func aLastingErrorEndsItAtOnce() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, .response(.notFound))
            let error = await #expect(throws: DownloadError.self) { try await scene.start().value }
            #expect(error?.code == .unexpectedStatus)
            #expect(error?.status == 404)
            let expired = HTTPClientError(.certificateExpired, phase: .tls, message: "expired")
            scene.transport.answer(scene.url, .error(expired))
            let second = await #expect(throws: DownloadError.self) { try await scene.start().value }
            #expect(second?.code == .requestFailed)
            #expect((second?.underlyingError as? HTTPClientError)?.code == .certificateExpired)
            #expect(scene.directory.names.isEmpty)
        }
    }

    @Test func nonsenseIsAnOutcome() async throws {
        try await DownloadScene.with { scene in
            func code(_ change: (inout DownloadOptions) -> Void) async -> DownloadError.Code? {
                let download = scene.start(change)
                return (await #expect(throws: DownloadError.self) { try await download.value })?.code
            }
            #expect(await code { $0.expectedSize = -1 } == .invalidOptions)
            #expect(await code { $0.maximumSize = -1 } == .invalidOptions)
            #expect(await code { $0.maximumRestarts = -1 } == .invalidOptions)
            #expect(await code { $0.backOff.initialPause = .seconds(-1) } == .invalidOptions)
            #expect(await code { $0.checksum = .sha256(expecting: []) } == .invalidOptions)
            func code(_ url: String, _ headers: HTTPFields = [:], to target: FilePath? = nil) async -> DownloadError
                .Code?
            {
                let download = scene.client.startDownload(
                    url, to: target ?? scene.target, within: .seconds(60), headers: headers, options: scene.options)
                return (await #expect(throws: DownloadError.self) { try await download.value })?.code
            }
            #expect(await code("no url") == .invalidOptions)
            #expect(await code(scene.url, [.range: "bytes=1-2"]) == .invalidOptions)
            #expect(await code(scene.url, to: "/") == .targetNotAFile)
            #expect(await code(scene.url, to: "..") == .targetNotAFile)
            #expect(await code(scene.url, to: "") == .invalidOptions)
            #expect(await code(scene.url, to: "/no such directory/file") == .fileFailed)
            #expect(throws: DownloadError.self) { try DownloadChecksum.sha256(hexadecimal: "abc") }
            #expect(scene.transport.requests.isEmpty)
        }
    }

    @Test func nothingIsKeptAliveByAnEndedDownload() async throws {
        try await DownloadScene.with { scene in
            let holder = Locked<StubTransport?>(StubTransport())
            weak let transport = holder.withLock { $0 }
            transport?.answer(scene.url, scene.whole)
            do {
                let client = HTTPClient(transport: try #require(transport))
                holder.withLock { $0 = nil }
                let download = client.startDownload(
                    scene.url, to: scene.target, within: .seconds(60), options: scene.options)
                for await _ in download.progress {}
                _ = try await download.value
            }
            try await eventually("the transport is gone") { transport == nil }
        }
    }
}
