// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkHTTP
import UplinkTesting

@testable import Uplink

@Suite(.timeLimit(.minutes(1)))
struct DownloadBatchTests {
    private func item(_ scene: DownloadScene, _ url: String, to name: String) -> DownloadItem {
        DownloadItem(url, to: scene.directory.path.appending(name), options: scene.options)
    }

    private func named(_ result: Result<DownloadedFile, any Error>) -> (url: String?, target: FilePath?) {
        guard case .failure(let error) = result else { return (nil, nil) }
        return ((error as? DownloadError)?.url, (error as? DownloadError)?.target)
    }

    private func code(_ result: Result<DownloadedFile, any Error>) -> DownloadError.Code? {
        if case .failure(let error) = result { (error as? DownloadError)?.code } else { nil }
    }

    @Test func oneFailureStopsNoOther() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", scene.whole)
            scene.transport.answer("https://a.example/2", .response(.notFound))
            scene.transport.answer("https://b.example/3", scene.whole)
            let batch = scene.client.startDownloads(
                [
                    item(scene, "https://a.example/1", to: "1"), item(scene, "https://a.example/2", to: "2"),
                    item(scene, "https://b.example/3", to: "3"), item(scene, "no url", to: "4"),
                ], within: .seconds(60))
            let results = await batch.results
            let first = try results[0].get()
            #expect(first.byteCount == 1000)
            #expect(throws: DownloadError.self) { try results[1].get() }
            let third = try results[2].get()
            #expect(third.path == scene.directory.path.appending("3"))
            #expect(throws: DownloadError.self) { try results[3].get() }
            let names = results.map(named)
            #expect(names.map(\.url) == [nil, "https://a.example/2", nil, ""])
            #expect(names[1].target == scene.directory.path.appending("2"))
            #expect(names[3].target == scene.directory.path.appending("4"))
            #expect(scene.directory.names == ["1", "3"])
            let progress = batch.currentProgress
            #expect((progress.finishedCount, progress.failedCount, progress.runningCount) == (2, 2, 0))
            #expect((progress.receivedBytes, progress.totalBytes) == (2000, 2000))
        }
    }

    @Test func aHostThatIsDownDoesNotHoldUpTheOthers() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", .response(.serviceUnavailable), scene.whole)
            scene.transport.answer("https://b.example/2", .silence)
            var limits = DownloadBatchLimits()
            limits.maximumRunning = 1
            let batch = scene.client.startDownloads(
                [item(scene, "https://a.example/1", to: "1"), item(scene, "https://b.example/2", to: "2")],
                within: .seconds(60), limits: limits)
            // a's pause takes for ever on this clock, and b is asked.
            try await eventually { scene.transport.requests.count == 2 }
            // Two deadlines, and the pause.
            try await scene.clock.advance(by: .seconds(1), sleepers: 3, patience: .seconds(30))
            for _ in 0..<1000 { await Task.yield() }
            #expect(scene.transport.requests.count == 2)  // the place is b's
            batch.cancel(1)
            let results = await batch.results
            #expect(try results[0].get().attempts == 2)
            #expect(throws: CancellationError.self) { try results[1].get() }
        }
    }

    @Test func whoWaitsForItsNetworkDoesNotHoldUpTheOthers() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", scene.whole)
            scene.transport.answer("https://b.example/2", scene.whole)
            let away = StubNetworkMonitor(.offline())
            var far = item(scene, "https://a.example/1", to: "1")
            far.options.monitor = away
            var limits = DownloadBatchLimits()
            limits.maximumRunning = 1
            let batch = scene.client.startDownloads(
                [far, item(scene, "https://b.example/2", to: "2")], within: .seconds(60), limits: limits)
            try await eventually { batch.currentProgress.finishedCount == 1 }
            #expect(scene.transport.requests.count == 1)
            away.goOnline()
            let results = await batch.results
            #expect(try results[0].get().attempts == 1)
            #expect(try results[1].get().attempts == 1)
        }
    }

    /// Nothing was tried then, so nothing has failed.
    @Test func whoLosesItsNetworkWhileItWaitsForItsPlaceHasNotFailed() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", scene.whole)
            scene.transport.answer("https://b.example/2", .silence)
            let away = StubNetworkMonitor(.offline())
            var far = item(scene, "https://a.example/1", to: "1")
            far.options.monitor = away
            far.options.backOff.maximumFailures = 0
            var limits = DownloadBatchLimits()
            limits.maximumRunning = 1
            let batch = scene.client.startDownloads(
                [far, item(scene, "https://b.example/2", to: "2")], within: .seconds(60), limits: limits)
            func isIn(_ phase: DownloadProgress.Phase) -> Bool {
                if case .running(let progress) = batch.currentProgress.items[0] {
                    progress.phase == phase
                } else {
                    false
                }
            }
            try await eventually { scene.transport.requests.count == 1 }  // b's, which has the place
            for _ in 0..<3 {
                away.goOnline()
                try await eventually { isIn(.connecting) }
                away.goOffline()
                try await eventually { isIn(.waitingForNetwork) }
            }
            away.goOnline()
            try await eventually { isIn(.connecting) }
            batch.cancel(1)
            let results = await batch.results
            #expect(try results[0].get().attempts == 1)
            #expect(throws: CancellationError.self) { try results[1].get() }
        }
    }

    /// A network that has to stay for a minute is waited for as well; nobody knows it when the batch begins.
    @Test func whoWaitsForAStableNetworkDoesNotHoldUpTheOthers() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://b.example/2", scene.whole)
            var far = item(scene, "https://a.example/1", to: "1")
            far.options.requirement = .internet.and(.stable(for: .seconds(60)))
            var limits = DownloadBatchLimits()
            limits.maximumRunning = 1
            let batch = scene.client.startDownloads(
                [far, item(scene, "https://b.example/2", to: "2")], within: .seconds(600), limits: limits)
            try await eventually { batch.currentProgress.finishedCount == 1 }
            batch.cancel()
            let results = await batch.results
            #expect(try results[1].get().attempts == 1)
        }
    }

    @Test func whoWaitsForItsPlaceCanBeCancelled() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", .response(.serviceUnavailable))
            scene.transport.answer("https://b.example/2", .silence)
            var limits = DownloadBatchLimits()
            limits.maximumRunning = 1
            let batch = scene.client.startDownloads(
                [item(scene, "https://a.example/1", to: "1"), item(scene, "https://b.example/2", to: "2")],
                within: .seconds(60), limits: limits)
            try await eventually { scene.transport.requests.count == 2 }
            // Two deadlines, and the pause.
            try await scene.clock.advance(by: .seconds(1), sleepers: 3, patience: .seconds(30))
            for _ in 0..<1000 { await Task.yield() }
            batch.cancel()
            for result in await batch.results { #expect(throws: CancellationError.self) { try result.get() } }
            #expect(scene.directory.names.isEmpty)
        }
    }

    @Test func aTargetThatAnotherItemHasIsRefused() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", scene.whole)
            let results = await scene.client.downloadAll(
                [
                    item(scene, "https://a.example/1", to: "same"),
                    item(scene, "https://a.example/2?secret", to: "./same"),
                ], within: .seconds(60))
            let first = try results[0].get()
            #expect(first.byteCount == 1000)
            #expect(code(results[1]) == .targetBusy)
            #expect(named(results[1]).url == "https://a.example/2?…")
            #expect(scene.transport.requests.count == 1)
        }
    }

    @Test func ofThreeWithOneTargetTheFirstIsDownloaded() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", scene.whole)
            let results = await scene.client.downloadAll(
                (1...3).map { item(scene, "https://a.example/\($0)", to: "same") }, within: .seconds(60))
            let first = try results[0].get()
            #expect(first.byteCount == 1000)
            #expect(results[1...].map { code($0) } == [.targetBusy, .targetBusy])
            #expect(scene.transport.requests.count == 1)
        }
    }

    /// A name in Latin-1: `ü`. With U+FFFD in its place there is no such directory.
    @Test func aDirectoryWhoseNameIsNotUTF8IsOneLikeOthers() async throws {
        try await DownloadScene.with { scene in
            let folder = scene.directory.path.pushing(FilePath(platformString: [CChar(bitPattern: 0xFC), 0]))
            let target = folder.appending("f")
            let isMade = folder.withPlatformString { mkdir($0, 0o700) } == 0
            try #require(isMade)
            let urls = ["https://a.example/1", "https://a.example/1?token=secret"]
            scene.transport.answer(urls[1], scene.whole)
            let items = urls.reversed().map { DownloadItem($0, to: target, options: scene.options) }
            let results = await scene.client.downloadAll(items, within: .seconds(60))
            #expect(try results[0].get().byteCount == 1000)
            // Known beforehand, and not by the lock alone.
            let refusal = #expect(throws: DownloadError.self) { try results[1].get() }
            #expect(refusal?.message.contains("is the target of `https://a.example/1?…`") == true)
            #expect(try TemporaryDirectory.read(target) == scene.content)
            _ = target.withPlatformString { unlink($0) }
            let isEmpty = folder.withPlatformString { rmdir($0) } == 0
            #expect(isEmpty)
        }
    }

    @Test func theDeadlineHoldsWhileTheTargetsAreLookedAt() async throws {
        try await DownloadScene.with { scene in
            var ends: [CInt] = [0, 0]
            try #require(pipe(&ends) == 0)
            let (reader, writer) = (ends[0], ends[1])
            defer {
                _ = write(writer, [1 as UInt8], 1)
                close(writer)
            }
            let items = [
                item(scene, "https://a.example/1", to: "1"), item(scene, "https://b.example/2", to: "2"),
            ]
            // As stat(2) in a directory whose server is gone.
            let core = DownloadBatchCore(scene.client, items, within: .seconds(60), limits: .init()) { _ in
                var byte: UInt8 = 0
                _ = read(reader, &byte, 1)
                close(reader)
                return [:]
            }
            core.start()
            let batch = DownloadBatch(core: core)
            try await scene.clock.advance(by: .seconds(60), patience: .seconds(30))
            for _ in 0..<1000 { await Task.yield() }
            #expect(batch.currentProgress.failedCount == 0)  // it may still come to an end
            scene.clock.move(by: DownloadCore.grace)
            let results = await batch.results
            #expect(results.map { code($0) } == [.deadlineExceeded, .deadlineExceeded])
            #expect(scene.transport.requests.isEmpty)
        }
    }

    @Test func cancellingEndsAllAndOneEndsOne() async throws {
        try await DownloadScene.with { scene in
            for number in 1...4 { scene.transport.answer("https://a.example/\(number)", .silence) }
            var limits = DownloadBatchLimits()
            limits.maximumRunningPerHost = 2
            let items = (1...4).map { item(scene, "https://a.example/\($0)", to: "\($0)") }
            let batch = scene.client.startDownloads(items, within: .seconds(60), limits: limits)
            try await eventually { scene.transport.requests.count == 2 }
            batch.cancel(3)  // which waits
            batch.cancel(0)  // which makes room
            try await eventually { scene.transport.requests.count == 3 }
            batch.cancel(17)
            batch.cancel()
            let results = await batch.results
            for result in results { #expect(throws: CancellationError.self) { try result.get() } }
            #expect(scene.transport.requests.count == 3)
            #expect(scene.directory.names.isEmpty)
            var last: DownloadBatchProgress?
            for await progress in batch.progress { last = progress }
            #expect(last?.failedCount == 4)
        }
    }

    @Test func theDeadlineIsOneForAll() async throws {
        try await DownloadScene.with { scene in
            for number in 1...3 { scene.transport.answer("https://a.example/\(number)", .silence) }
            var limits = DownloadBatchLimits()
            limits.maximumRunning = 1
            let items = (1...3).map { item(scene, "https://a.example/\($0)", to: "\($0)") }
            let batch = scene.client.startDownloads(items, within: .seconds(60), limits: limits)
            try await eventually { scene.transport.requests.count == 1 }
            try await scene.clock.advance(by: .seconds(60))
            for result in await batch.results {
                #expect(code(result) == .deadlineExceeded)
            }
        }
    }

    @Test func noTimeAtAllIsNone() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer("https://a.example/1", .silence)
            let items = [item(scene, "https://a.example/1", to: "1")]
            for limit in [Duration.zero, .seconds(-1), Duration(attoseconds: .min)] {
                for result in await scene.client.downloadAll(items, within: limit) {
                    #expect(code(result) == .deadlineExceeded)
                }
            }
        }
    }

    @Test func noItemsAreNoWork() async throws {
        try await DownloadScene.with { scene in
            #expect(await scene.client.downloadAll([], within: .seconds(60)).isEmpty)
        }
    }
}
