// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// The pauses of a download, and its deadline.
@Suite(.timeLimit(.minutes(1)))
struct DownloadTimeTests {
    private static let unreachable = HTTPClientError(
        .connectionFailed, phase: .connect, requestDisposition: .notSent, message: "no way there")

    @Test func aPauseEndsWhenThePathChangesThoughNotAtOnce() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, .error(Self.unreachable), scene.whole)
            let download = scene.start { $0.backOff.initialPause = .seconds(20) }
            try await scene.clock.waitForSleepers(2, patience: .seconds(30))
            scene.monitor.goOffline()
            try await scene.clock.advance(by: .seconds(9), sleepers: 2, patience: .seconds(30))
            for _ in 0..<1000 { await Task.yield() }
            #expect(download.currentProgress.phase == .pausing)
            scene.clock.move(by: .seconds(1))
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            scene.monitor.goOnline()
            _ = try await download.value
            #expect(scene.clock.now.offset == .seconds(10))
            #expect(scene.directory.holds("disk.iso", scene.content))
        }
    }

    @Test func aPathThatNeverRestsDoesNotMakeThePausesLonger() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, .error(Self.unreachable))
            let download = scene.start()
            for attempt in 1...12 {
                try await eventually(within: .seconds(30)) { scene.transport.requests.count == attempt }
                try await scene.clock.waitForSleepers(2, patience: .seconds(30))
                scene.monitor.goOnline()
                for _ in 0..<1000 { await Task.yield() }
                #expect(scene.transport.requests.count == attempt)
                scene.clock.move(by: .milliseconds(125))
            }
            // It rests now, and the pause is as long as the first one.
            try await eventually(within: .seconds(30)) { scene.transport.requests.count == 13 }
            try await scene.clock.waitForSleepers(2, patience: .seconds(30))
            scene.transport.answer(scene.url, scene.whole)
            for _ in 0..<2 {
                try await scene.clock.advance(by: .milliseconds(125), sleepers: 2, patience: .seconds(30))
            }
            #expect(try await download.value.attempts == 14)
        }
    }

    /// What a server has answered is no fault of the path.
    @Test func aPauseAfterAnAnswerIsKeptAlsoWhenThePathChanges() async throws {
        try await DownloadScene.with { scene in
            let rubbish = HTTPClientError(
                .invalidResponse, phase: .firstByte, requestDisposition: .responseStarted, message: "no HTTP")
            scene.transport.answer(scene.url, .response(.serviceUnavailable), .error(rubbish), scene.whole)
            let download = scene.start { $0.backOff.initialPause = .seconds(10) }
            for pause in [10, 20] {
                try await scene.clock.waitForSleepers(2, patience: .seconds(30))
                scene.monitor.goOffline()
                scene.monitor.goOnline()
                try await scene.clock.advance(by: .seconds(pause - 1), sleepers: 2, patience: .seconds(30))
                // Whoever wanted to ask now has had many turns to do so.
                for _ in 0..<1000 { await Task.yield() }
                #expect(download.currentProgress.phase == .pausing)
                try await scene.clock.advance(by: .seconds(1), sleepers: 2, patience: .seconds(30))
            }
            #expect(try await download.value.attempts == 3)
        }
    }

    @Test func aServersPauseIsKept() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(
                scene.url, .response(.serviceUnavailable, headers: [.retryAfter: "20"]), scene.whole)
            let download = scene.start()
            try await scene.clock.advance(by: .seconds(19), sleepers: 2, patience: .seconds(30))
            #expect(download.currentProgress.phase == .pausing)
            #expect(download.currentProgress.pause == .seconds(1))
            try await scene.clock.advance(by: .seconds(1), sleepers: 2, patience: .seconds(30))
            _ = try await download.value
            #expect(scene.transport.requests.count == 2)
        }
    }

    @Test func aServersPauseIsKeptAlsoWhenThePathChanges() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(
                scene.url, .response(.tooManyRequests, headers: [.retryAfter: "20"]), scene.whole)
            let download = scene.start()
            try await scene.clock.waitForSleepers(2, patience: .seconds(30))
            scene.monitor.goOffline()
            scene.monitor.goOnline()
            // Whoever wanted to ask now has had many turns to do so.
            for _ in 0..<1000 { await Task.yield() }
            #expect(download.currentProgress.phase == .pausing)
            try await scene.clock.advance(by: .seconds(20), sleepers: 2, patience: .seconds(30))
            #expect(try await download.value.attempts == 2)
        }
    }

    @Test func aPauseThatMayNotBeCutShortDoesNotEndWithTheOthers() async throws {
        let (monitor, clock) = (StubNetworkMonitor(), ManualClock())
        monitor.goOnline()
        var options = DownloadOptions()
        (options.monitor, options.clock) = (monitor, clock)
        let network = DownloadNetwork(options, clock: ElapsedClock(options.clock))
        let generation = network.generation
        let hasEnded = Locked(false)
        let kept = Task {
            let isCutShort = try await network.rest(for: .init(length: .seconds(20)), since: generation)
            hasEnded.withLock { $0 = true }
            return isCutShort
        }
        let others = (0..<20).map { _ in
            Task { try await network.rest(for: .init(length: .seconds(20), cutShort: .zero), since: generation) }
        }
        try await clock.waitForSleepers(21, patience: .seconds(30))
        monitor.goOffline()
        for task in others { #expect(try await task.value) }
        #expect(!hasEnded.withLock { $0 })
        try await clock.advance(by: .seconds(20), sleepers: 1, patience: .seconds(30))
        #expect(try await !kept.value)
    }

    @Test func theDeadlineTellsWhatTheLastAttemptEndedWith() async throws {
        func error(after answer: @escaping (DownloadScene) -> StubTransport.Answer) async throws -> DownloadError? {
            var error: DownloadError?
            try await DownloadScene.with { scene in
                scene.transport.answer(scene.url, answer(scene))
                let download = scene.start()
                try await scene.clock.waitForSleepers(2, patience: .seconds(30))  // the deadline, the pause
                scene.monitor.goOffline()
                scene.clock.move(by: .seconds(1))
                try await eventually { download.currentProgress.phase == .waitingForNetwork }
                scene.clock.move(by: .seconds(3599))
                error = await #expect(throws: DownloadError.self) { try await download.value }
            }
            return error
        }
        let refused = try await error { _ in .response(.serviceUnavailable) }
        #expect(refused?.code == .deadlineExceeded)
        #expect(refused?.status == 503)
        let broken = try await error { $0.broken(after: 400) }
        #expect(broken?.code == .deadlineExceeded)
        #expect((broken?.underlyingError as? HTTPClientError)?.code == .connectionReset)
        #expect(broken?.status == nil)
    }

    @Test(arguments: [NetworkRequirement.internet, .localNetwork])
    func theDeadlineHoldsWhileTheNetworkIsAway(_ requirement: NetworkRequirement) async throws {
        try await DownloadScene.with { scene in
            scene.monitor.goOffline(.noRoute)
            let download = scene.start { $0.requirement = requirement }
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            try await scene.clock.advance(by: .seconds(3599))
            #expect(download.currentProgress.remaining == .seconds(1))
            scene.clock.move(by: .seconds(1))
            let error = await #expect(throws: DownloadError.self) { try await download.value }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.message.contains("route") == true)
            #expect(error?.message.contains("set `requirement`") == requirement.isDefault)
            #expect(scene.transport.requests.isEmpty)
            #expect(scene.directory.names.isEmpty)
            #expect(download.currentProgress.phase == .failed)
        }
    }

    @Test func theDeadlineHoldsInABodyAndWhatCameIsKept() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400), scene.rest(from: 400))
            let download = scene.start()
            try await eventually { download.currentProgress.receivedBytes == 400 }
            try await scene.clock.advance(by: .seconds(3600))
            let error = await #expect(throws: DownloadError.self) { try await download.value }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.keptBytes == 400)
            #expect(scene.directory.names == [".disk.iso.uplink-part", ".disk.iso.uplink-record"])
            // Somebody comes later.
            let file = try await scene.start().value
            #expect((file.attempts, file.resumptions, file.transferredBytes) == (1, 1, 600))
            #expect(scene.ranges == [nil, "bytes=400-"])
            #expect(scene.directory.holds("disk.iso", scene.content))
            #expect(scene.directory.names == ["disk.iso"])
        }
    }

    @Test func aTimeLimitOfZeroIsOver() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, .silence)
            let error = await #expect(throws: DownloadError.self) {
                try await scene.client.download(
                    scene.url, to: scene.target, within: .seconds(-1), options: scene.options)
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(scene.directory.names.isEmpty)
        }
    }
}
