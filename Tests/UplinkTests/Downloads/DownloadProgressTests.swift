// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

@Suite(.timeLimit(.minutes(1)))
struct DownloadProgressTests {
    @Test func everyReaderGetsTheNewestAndTheEnd() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, scene.cut(after: 400), scene.rest(from: 400))
            let download = scene.start()
            let readers = (0..<3).map { _ in
                Task { () -> [DownloadProgress] in
                    var all: [DownloadProgress] = []
                    for await progress in download.progress { all.append(progress) }
                    return all
                }
            }
            try await eventually { download.currentProgress.receivedBytes == 400 }
            scene.monitor.goOffline()
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            scene.monitor.goOnline()
            _ = try await download.value
            for reader in readers {
                let all = await reader.value
                #expect(all.last?.phase == .finished)
                #expect(all.last?.receivedBytes == 1000)
                #expect(all.last?.fraction == 1)
                #expect(all.map(\.receivedBytes) == all.map(\.receivedBytes).sorted())
                #expect(all.map(\.attempt) == all.map(\.attempt).sorted())
            }
            // Who comes after the end gets the end.
            var late: [DownloadProgress.Phase] = []
            for await progress in download.progress { late.append(progress.phase) }
            #expect(late == [.finished])
        }
    }

    @Test func aReaderThatIsCancelledDoesNotHang() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, .silence)
            let download = scene.start()
            let reader = Task { for await _ in download.progress {} }
            try await eventually { scene.transport.requests.count == 1 }
            reader.cancel()
            await reader.value
            download.cancel()
            _ = try? await download.value
        }
    }

    /// One thread makes the last value, another one a value after it, which is put up first.
    @Test func theEndIsToldEvenIfALaterValueOvertakesIt() async {
        let board = UpdateBoard("begun")
        board.post("told too late", number: 3)
        board.post("ended", number: 2, finishes: true)
        board.post("told after the end", number: 4)
        var seen: UInt64? = 3
        #expect(await board.next(after: &seen) == "ended")
        #expect(await board.next(after: &seen) == nil)
    }

    @Test func aBoardKeepsTheNewestValue() async {
        let board = UpdateBoard(1)
        var seen: UInt64?
        #expect(await board.next(after: &seen) == 1)
        board.post(2, number: 1)
        board.post(4, number: 3)
        board.post(3, number: 2)  // overtaken
        #expect(await board.next(after: &seen) == 4)
        guard case .nothing = board.look(after: seen) else {
            Issue.record("something is left")
            return
        }
        board.post(5, number: 4, finishes: true)
        board.post(6, number: 5)
        #expect(await board.next(after: &seen) == 5)
        #expect(await board.next(after: &seen) == nil)
    }

    /// The state of a batch is as large as the batch.
    @Test func aValueThatNobodyReadsIsNotMade() async {
        let made = Locked(0)
        let value: @Sendable () -> Int = {
            made.withLock {
                $0 += 1
                return $0
            }
        }
        let board = UpdateBoard(value())
        for number: UInt64 in 1...1000 { board.post(value(), number: number) }
        #expect(made.withLock { $0 } == 0)
        var seen: UInt64?
        #expect(await board.next(after: &seen) == 1)
        #expect(seen == 1000)
    }

    @Test func theRateIsThatOfTheLastSeconds() {
        var meter = RateMeter()
        meter.start(at: .zero)
        for tenth in 1...100 { meter.add(100, at: .milliseconds(tenth * 100)) }
        #expect(abs(meter.rate(at: .seconds(10)) - 1000) < 60)
        for tenth in 101...200 { meter.add(300, at: .milliseconds(tenth * 100)) }
        #expect(abs(meter.rate(at: .seconds(20)) - 3000) < 180)
        // Nothing comes.
        #expect(meter.rate(at: .seconds(23)) < 1500)
        #expect(meter.rate(at: .seconds(60)) == 0)
        meter.start(at: .seconds(60))
        #expect(meter.rate(at: .seconds(61)) == 0)
    }

    @Test func theStoryTellsWhatIsLeft() {
        var story = DownloadStory(deadline: .seconds(100))
        var machine = machine()
        _ = machine.ask()
        _ = machine.answered(answer(200, length: 1000))
        story.enter(.receiving, at: .seconds(10))
        _ = machine.received(500)
        story.count(machine)
        #expect(story.receive(500, at: .seconds(15)) == true)
        let progress = story.post(at: .seconds(15))
        #expect(progress.fraction == 0.5)
        #expect(progress.bytesPerSecond == 100)
        #expect(progress.timeLeft == .seconds(5))
        #expect(progress.remaining == .seconds(85))
        #expect(story.receive(1, at: .seconds(15) + .milliseconds(99)) == false)
        #expect(story.receive(1, at: .seconds(15) + .milliseconds(100)) == true)
        story.pause(for: .seconds(4), because: "it broke", at: .seconds(16))
        #expect(story.snapshot(at: .seconds(17)).pause == .seconds(3))
        #expect(story.snapshot(at: .seconds(17)).trouble == "it broke")
        story.enter(.waitingForNetwork, at: .seconds(20))
        #expect(story.post(at: .seconds(20)).phase == .resuming)
        #expect(story.snapshot(at: .seconds(20)).attempt == 2)
        #expect(story.sees(lacking: "no link") == true)
        #expect(story.sees(lacking: "no link") == false)
        #expect(story.snapshot(at: .seconds(20)).phase == .waitingForNetwork)
        #expect(story.snapshot(at: .seconds(20)).trouble == "no link")
        #expect(story.snapshot(at: .seconds(20)).attempt == 2)  // never less than before
    }

    @Test(arguments: [DownloadProgress.Phase.finished, .failed])
    func atTheEndTheOutcomeSaysWhatWasWrong(_ end: DownloadProgress.Phase) {
        var story = DownloadStory(deadline: nil)
        story.pause(for: .seconds(4), because: "it broke", at: .zero)
        story.enter(end, at: .seconds(1))
        #expect(story.post(at: .seconds(1)).trouble == nil)
    }

    @Test func whatTheNetworkHasToDoForAWhileIsWaitedFor() async throws {
        try await DownloadScene.with { scene in
            scene.transport.answer(scene.url, .silence)
            let download = scene.start { $0.requirement = .stable(for: .seconds(60)) }
            try await eventually("\(download.currentProgress)") {
                download.currentProgress.phase == .waitingForNetwork
            }
            #expect(download.currentProgress.attempt <= 1)
            #expect(download.currentProgress.trouble?.contains("stable for") == true)
            #expect(scene.transport.requests.isEmpty)
            download.cancel()
            _ = try? await download.value
        }
    }
}
