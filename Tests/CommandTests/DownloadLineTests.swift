// SPDX-License-Identifier: Apache-2.0
import Testing
import Uplink

@testable import UplinkCommand

/// The line that changes while files are downloaded.
@Suite(.timeLimit(.minutes(1)))
struct DownloadLineTests {
    private func progress(_ phase: DownloadProgress.Phase) -> DownloadProgress {
        var progress = DownloadProgress()
        progress.phase = phase
        (progress.receivedBytes, progress.totalBytes) = (50_000_000, 200_000_000)
        (progress.bytesPerSecond, progress.timeLeft) = (12_000_000, .seconds(12.5))
        progress.remaining = .seconds(3600)
        progress.attempt = 1
        return progress
    }

    private func line(_ progress: DownloadProgress, columns: Int = 200) -> String {
        DownloadLine.text(progress, columns: columns).plain
    }

    @Test func bytesPercentRateAndTimeLeftAreTold() {
        #expect(line(progress(.receiving)).hasSuffix("  25 %  50 MB of 200 MB  12 MB/s  0:13 left"))
        #expect(line(progress(.receiving)).hasPrefix(String(repeating: "━", count: 10) + "─"))
    }

    @Test(arguments: [1, 10, 20, 40]) func itIsNoLongerThanTheTerminalIsWide(columns: Int) {
        #expect(Text(line(progress(.receiving), columns: columns)).width < max(2, columns))
        for expected in [Int64(200_000_000), nil] {
            var story = ProgressStory()
            _ = story.take(0, of: expected, at: .zero)
            _ = story.take(50_000_000, of: expected, at: .seconds(4))
            let text = story.line(columns: columns)
            #expect(Text(text).width < max(2, columns), "\(text)")
        }
    }

    @Test func whileItWaitsItSaysForWhatAndForHowLong() {
        var waiting = progress(.waitingForNetwork)
        #expect(line(waiting).hasSuffix("50 MB of 200 MB  waiting for the network, for 1:00:00 at most"))
        waiting.trouble = "no link\nis up"
        #expect(line(waiting).hasSuffix("waiting for the network, for 1:00:00 at most: no link is up"))
        waiting.remaining = .seconds(1_000_000_000)
        #expect(line(waiting).hasSuffix("waiting for the network: no link is up"))
    }

    @Test func whileItPausesItSaysWhenItTriesAgainAndWhy() {
        var pausing = progress(.pausing)
        (pausing.pause, pausing.trouble) = (.milliseconds(2500), "connection refused")
        #expect(line(pausing).hasSuffix("trying again in 0:03, for 1:00:00 at most: connection refused"))
    }

    @Test(arguments: DownloadProgress.Phase.allCases)
    func noLineIsWiderThanTheTerminal(phase: DownloadProgress.Phase) {
        var progress = progress(phase)
        progress.trouble = String(repeating: "a long story ", count: 30)
        for columns in [1, 10, 20, 40, 60, 80, 81, 132] {
            let text = DownloadLine.text(progress, columns: columns)
            #expect(text.width < max(columns, 30), "\(columns): \(text.plain)")
            #expect(!text.plain.contains("\n"))
        }
    }

    @Test func withoutATotalThereIsNoBarAndNoPercent() {
        var progress = progress(.receiving)
        (progress.totalBytes, progress.timeLeft) = (nil, nil)
        #expect(line(progress) == "50 MB  12 MB/s")
    }

    @Test func aBatchIsOneLine() {
        var batch = DownloadBatchProgress()
        batch.items = [.finished(bytes: 10), .failed("no"), .running(progress(.receiving)), .queued]
        (batch.receivedBytes, batch.totalBytes) = (60_000_000, 300_000_000)
        (batch.bytesPerSecond, batch.timeLeft) = (24_000_000, .seconds(10))
        #expect(
            DownloadLine.text(batch, columns: 200)?.plain.hasSuffix(
                "  20 %  60 MB of 300 MB  1 of 4 files, 1 failed  24 MB/s  0:10 left") == true)
        batch.items[2] = .running(progress(.waitingForNetwork))
        #expect(
            DownloadLine.text(batch, columns: 200)?.plain.contains("1 failed  waiting for the network, for") == true)
    }

    @Test func whatFailedIsNotDone() {
        var batch = DownloadBatchProgress()
        (batch.items, batch.totalBytes) = ([.failed("no"), .failed("no")], 0)
        #expect(DownloadLine.text(batch, columns: 200)?.plain == "0 bytes of 0 bytes  0 of 2 files, 2 failed")
        batch.items = [.failed("no")]
        #expect(DownloadLine.text(batch, columns: 200) == nil)
        batch.items = [.finished(bytes: 0)]
        #expect(DownloadLine.text(batch, columns: 200)?.plain.contains("100 %") == true)
    }
}

/// The line of one transfer.
@Suite(.timeLimit(.minutes(1)))
struct ProgressStoryTests {
    @Test func whatWasThereAlreadyHasTakenNoTime() {
        var story = ProgressStory()
        _ = story.take(900_000_000, of: 1_000_000_000, at: .seconds(1))
        #expect(story.line(columns: 200).hasSuffix("  90 %  900 MB of 1.0 GB"))  // no pace yet
        _ = story.take(910_000_000, of: 1_000_000_000, at: .seconds(3))
        #expect(story.line(columns: 200).hasSuffix("  91 %  910 MB of 1.0 GB  5.0 MB/s  0:18 left"))
    }

    @Test func aNumberThatFallsIsThatOfSomethingElse() {
        var story = ProgressStory()
        _ = story.take(0, of: nil, at: .zero)
        _ = story.take(80_000_000, of: nil, at: .seconds(1))
        #expect(story.line(columns: 200) == "80 MB  80 MB/s")
        _ = story.take(1_000_000, of: nil, at: .seconds(2))
        _ = story.take(3_000_000, of: nil, at: .seconds(4))
        #expect(story.line(columns: 200) == "3.0 MB  1.0 MB/s")
    }

    @Test func theLastStateIsDrawnThoughItCameSoonAfterAnother() {
        var story = ProgressStory()
        var drawn: [Bool] = []
        var behind: [Bool] = []
        for (bytes, expected, time) in [(10, nil, 0), (20, nil, 99), (30, nil, 100), (40, 40, 101), (40, nil, 102)]
            as [(Int64, Int64?, Int)]
        {
            drawn.append(story.take(bytes, of: expected, at: .milliseconds(time)))
            behind.append(story.isBehind)
        }
        #expect(drawn == [true, false, true, true, false])
        #expect(behind == [false, true, false, false, true] && story.isDrawn)
    }
}

/// The lines that stay.
@Suite(.timeLimit(.minutes(1)))
struct DownloadReportTests {
    private func batch(_ items: DownloadBatchProgress.Item...) -> DownloadBatchProgress {
        var batch = DownloadBatchProgress()
        batch.items = items
        return batch
    }

    private func running(
        _ phase: DownloadProgress.Phase, _ bytes: Int64 = 0, resumptions: Int = 0, restarts: Int = 0
    ) -> DownloadBatchProgress.Item {
        var progress = DownloadProgress()
        (progress.phase, progress.receivedBytes) = (phase, bytes)
        (progress.resumptions, progress.restarts) = (resumptions, restarts)
        return .running(progress)
    }

    @Test func oneFileWithoutTroubleIsSilent() {
        var report = DownloadReport(names: ["a"], detail: .troubles)
        #expect(report.take(batch(running(.receiving, 5)), at: .zero).isEmpty)
        #expect(report.take(batch(.finished(bytes: 10)), at: .seconds(1)).isEmpty)
    }

    @Test func aTroubleIsToldOnceAndThenThatItGoesOn() {
        var report = DownloadReport(names: ["a"], detail: .troubles)
        let waiting = batch(running(.waitingForNetwork, 5000))
        _ = report.take(batch(running(.receiving, 5000)), at: .seconds(1))
        #expect(report.take(waiting, at: .seconds(2)).map(\.plain) == ["a: waiting for the network"])
        #expect(report.take(waiting, at: .seconds(3)).isEmpty)
        #expect(report.take(batch(running(.resuming, 5000)), at: .seconds(4)).isEmpty)
        let again = report.take(batch(running(.receiving, 5000)), at: .seconds(5))
        #expect(again.map(\.plain) == ["a: going on at 5.0 kB"])
        #expect(report.take(waiting, at: .seconds(6)).isEmpty, "a network that flaps fills no log")
        _ = report.take(batch(running(.receiving, 9000, resumptions: 2)), at: .seconds(60))
        #expect(report.take(waiting, at: .seconds(63)).count == 1)
        _ = report.take(batch(running(.receiving, 9000, resumptions: 3)), at: .seconds(64))
        #expect(
            report.take(batch(.finished(bytes: 10_000)), at: .seconds(66)).map(\.plain) == [
                "✓ a  10 kB in 1:05, resumed 3 times"
            ])
    }

    @Test func aTroubleThatLastsIsToldOnceItMayBe() {
        var report = DownloadReport(names: ["a"], detail: .troubles)
        let waiting = batch(running(.waitingForNetwork, 5000))
        #expect(report.take(waiting, at: .seconds(2)).count == 1)
        #expect(report.take(batch(running(.receiving, 5000)), at: .seconds(5)).count == 1)
        for now in [6, 30, 61] { #expect(report.take(waiting, at: .seconds(now)).isEmpty) }
        #expect(report.take(waiting, at: .seconds(62)).map(\.plain) == ["a: waiting for the network"])
    }

    @Test func whatBeginsAnewIsNotGoneOnWith() {
        var report = DownloadReport(names: ["a"], detail: .troubles)
        _ = report.take(batch(running(.pausing, 5000, restarts: 1)), at: .zero)
        let again = report.take(batch(running(.receiving, 9000, restarts: 2)), at: .seconds(1))
        #expect(again.map(\.plain) == ["a: beginning anew"])
    }

    @Test func whatHadNotBegunBegins() {
        var report = DownloadReport(names: ["a"], detail: .troubles)
        _ = report.take(batch(running(.waitingForNetwork, 0)), at: .zero)
        #expect(report.take(batch(running(.receiving, 0)), at: .seconds(1)).map(\.plain) == ["a: beginning"])
    }

    @Test func ofManyFilesEachEndIsToldOnce() {
        var report = DownloadReport(names: ["a", "b"], detail: .endings)
        #expect(report.take(batch(running(.receiving), .queued), at: .zero).isEmpty)
        let first = report.take(batch(.finished(bytes: 1000), running(.waitingForNetwork)), at: .seconds(2))
        #expect(first.map(\.plain) == ["✓ a  1.0 kB in 2.0 s"])
        let second = report.take(batch(.finished(bytes: 1000), .failed("404\nno such file")), at: .seconds(3))
        #expect(second.map(\.plain) == ["✗ b  404 no such file"])
    }

    @Test func whoWantsSilenceIsToldOfFailuresAlone() {
        var report = DownloadReport(names: ["a", "b"], detail: .failures)
        #expect(report.take(batch(running(.receiving), running(.waitingForNetwork)), at: .zero).isEmpty)
        let ends = report.take(batch(.finished(bytes: 1000), .failed("404")), at: .seconds(3))
        #expect(ends.map(\.plain) == ["✗ b  404"])
    }

    @Test func whatIsLeftIsSaidWithTheWayToGoOn() {
        var one = DownloadReport(names: ["a"], detail: .endings)
        #expect(one.remains == nil)
        _ = one.take(batch(running(.receiving, 45_000_000)), at: .zero)
        #expect(one.remains == "Interrupted at 45 MB; the same command goes on from there, where the server can")
        var two = DownloadReport(names: ["a", "b"], detail: .endings)
        _ = two.take(batch(.finished(bytes: 5), running(.receiving, 45_000_000)), at: .zero)
        #expect(two.remains?.hasPrefix("Interrupted when 1 of 2 files had ended") == true)
        #expect(two.remains?.contains("--skip-existing") == true)
    }
}
