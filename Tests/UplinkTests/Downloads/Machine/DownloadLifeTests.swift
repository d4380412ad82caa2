// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// The one outcome, and the order of bytes on their way to the disk.
@Suite(.timeLimit(.minutes(1)))
struct DownloadLifeTests {
    private let file = DownloadedFile(
        path: "f", byteCount: 0, transferredBytes: 0, url: "", head: nil, checksum: nil, attempts: 1, resumptions: 0,
        restarts: 0)

    @Test func whoCancelsAfterTheNamingGetsTheFile() {
        var life = DownloadLife()
        #expect(life.name() == true)
        #expect(life.end(.cancelled) == false)
        #expect(life.abandoned(CancellationError()) == false)
        #expect(life.ended(.success(file)) == true)
        #expect((try? life.outcome?.get()) != nil)
        #expect(life.ended(.failure(CancellationError())) == false)
        #expect((try? life.outcome?.get()) != nil)
    }

    @Test func whoCancelsBeforeGetsNone() {
        var life = DownloadLife()
        #expect(life.end(.deadline) == true)
        #expect(life.end(.cancelled) == false)
        #expect(life.cause == .deadline)
        #expect(life.name() == false)
        #expect(life.ended(.failure(CancellationError())) == true)
        #expect(life.cause == nil)
    }

    @Test func whatItFailsWithAfterItWasCancelledIsNoOutcome() {
        var life = DownloadLife()
        #expect(life.end(.cancelled) == true)
        #expect(life.ended(.failure(DownloadError(.targetExists, message: ""))) == true)
        #expect(throws: CancellationError.self) { try life.outcome?.get() }
    }

    @Test func workThatWasAbandonedChangesTheStoryNoMore() async {
        let clock = ManualClock()
        var options = DownloadOptions()
        options.clock = clock
        let core = DownloadCore("", to: "/file", options: options, within: .seconds(60))
        let (isOpen, open) = AsyncStream.makeStream(of: Void.self)
        let (hasTold, tell) = AsyncStream.makeStream(of: Void.self)
        core.start { [file] in
            // Not cancelled with its task.
            await Task.detached { for await _ in isOpen { break } }.value
            core.tell { story, now in story.enter(.verifying, at: now) }
            tell.finish()
            return file
        }
        core.end(.cancelled)
        // One sleeps until the deadline.
        try? await clock.advance(by: DownloadCore.grace, sleepers: 2, patience: .seconds(30))
        let outcome = await core.outcome()
        #expect(throws: CancellationError.self) { try outcome.get() }
        open.finish()
        for await _ in hasTold {}
        #expect(core.currentProgress.phase == .failed)
    }

    @Test func workThatHangsIsAbandonedAndItsOwnEndComesTooLate() {
        var life = DownloadLife()
        #expect(life.abandoned(CancellationError()) == false)
        _ = life.end(.deadline)
        #expect(life.abandoned(CancellationError()) == true)
        #expect(life.name() == false)
        #expect(life.ended(.success(file)) == false)
    }
}
