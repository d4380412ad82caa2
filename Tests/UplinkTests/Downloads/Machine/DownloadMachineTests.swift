// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP

@testable import Uplink

/// What is asked for, and what is made of honest answers.
@Suite(.timeLimit(.minutes(1)))
struct DownloadMachineTests {
    @Test func theWholeIsAskedForAndWritten() {
        var machine = machine()
        #expect(machine.ask() == .whole)
        #expect(machine.answered(answer(200, length: 1000)).isBegin)
        #expect(machine.received(1000) == nil)
        #expect(machine.bodyEnded().isComplete)
        #expect(machine.state == .whole)
        #expect((machine.attempts, machine.resumptions, machine.restarts, machine.transferred) == (1, 0, 0, 1000))
    }

    @Test func aBrokenDownloadAsksForTheRest() {
        var machine = DownloadMachine.interrupted()
        #expect(machine.ask() == .rest(from: 400, ifStill: .entityTag("\"v1\"")))
        let part = answer(206, length: 600, range: "bytes 400-999/1000")
        #expect(machine.answered(part).isAppend)
        #expect(machine.received(600) == nil)
        #expect(machine.bodyEnded().isComplete)
        #expect((machine.attempts, machine.resumptions, machine.restarts, machine.transferred) == (2, 1, 0, 1000))
    }

    @Test func aDateThatIsOldEnoughIsAValidator() {
        var machine = machine()
        _ = machine.ask()
        let dates: HTTPFields = [
            .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:50:37 GMT",
        ]
        _ = machine.answered(answer(200, tag: nil, length: 1000, fields: dates))
        _ = machine.received(10)
        _ = machine.failed(.networkLost(""))
        #expect(machine.ask() == .rest(from: 10, ifStill: .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")))
        for (fields, isAppend) in [
            (dates, true), ([:], true),  // which it need not repeat (RFC 9110, section 15.3.7)
            ([.lastModified: "Sun, 06 Nov 1994 08:49:38 GMT"], false), ([.eTag: "\"v2\""], false),
        ] {
            var machine = machine
            let part = answer(206, tag: nil, length: 990, range: "bytes 10-999/1000", fields: fields)
            #expect(machine.answered(part).isAppend == isAppend)
        }
    }

    @Test(arguments: ["W/\"v1\"", nil])
    func withoutAStrongValidatorTheWholeIsAskedForAgain(tag: String?) {
        var machine = DownloadMachine.interrupted(tag: tag)
        #expect(machine.ask() == .whole)
        #expect(machine.answered(answer(200, tag: tag, length: 1000)).isBegin)
        #expect((machine.received, machine.restarts) == (0, 1))
    }

    @Test func whatCannotBeReadIsAskedForAnewEvenWhereNoServerMayBeginAnew() {
        var machine = machine {
            $0.maximumRestarts = 0
            $0.backOff.maximumFailures = 0
        }
        let left = ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: "p")
        #expect(machine.found(left, bytes: 400) == true)
        machine.lost()
        #expect(machine.ask() == .whole)
        #expect(machine.answered(answer(200, length: 1000)).isBegin)
        #expect(machine.received(1000) == nil)
        #expect(machine.bodyEnded().isComplete)
        #expect((machine.attempts, machine.resumptions, machine.restarts) == (1, 0, 1))
    }

    @Test func aNewVersionBeginsAnewInTheSameAnswer() {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        guard case .begin(let version) = machine.answered(answer(200, tag: "\"v2\"", length: 70)) else {
            Issue.record("it does not begin")
            return
        }
        #expect(version.validator == .entityTag("\"v2\""))
        #expect(version.length == 70)
        #expect((machine.received, machine.restarts, machine.attempts) == (0, 1, 2))
        #expect(machine.received(70) == nil)
        #expect(machine.bodyEnded().isComplete)
    }

    @Test func aServerMayGiveAShorterPart() {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        #expect(machine.answered(answer(206, length: 100, range: "bytes 400-499/1000")).isAppend)
        #expect(machine.received(100) == nil)
        #expect(machine.bodyEnded().pause == .zero)
        #expect(machine.ask() == .rest(from: 500, ifStill: .entityTag("\"v1\"")))
    }

    @Test func aPartTellsALengthThatWasNotKnown() {
        var machine = DownloadMachine.interrupted(of: nil)
        _ = machine.ask()
        guard case .append(let version) = machine.answered(answer(206, range: "bytes 400-999/1000"))
        else {
            Issue.record("it does not append")
            return
        }
        #expect(version.length == 1000)
    }

    @Test func whatAnEarlierRunHasLeftIsGoneOnWith() {
        var machine = machine()
        let version = ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: Fingerprint.of(machineURL))
        #expect(machine.found(version, bytes: 400) == true)
        #expect(machine.ask() == .rest(from: 400, ifStill: .entityTag("\"v1\"")))
        #expect(machine.answered(answer(206, length: 600, range: "bytes 400-999/1000")).isAppend)
    }

    @Test func whatIsOfNoUseIsNotGoneOnWith() {
        func isOfUse(
            _ tag: String?, _ length: Int64?, _ bytes: Int64, _ change: (inout DownloadOptions) -> Void = { _ in }
        )
            -> Bool
        {
            var machine = machine(change)
            return machine.found(
                ResourceVersion(validator: tag.map(StrongValidator.entityTag), length: length, place: ""), bytes: bytes)
        }
        #expect(isOfUse("\"v1\"", 1000, 400))
        #expect(isOfUse("\"v1\"", nil, 400))
        #expect(!isOfUse("\"v1\"", 1000, 1001))  // longer than it can be
        #expect(!isOfUse("\"v1\"", 1000, 0))
        #expect(!isOfUse(nil, 1000, 400))
        #expect(!isOfUse("\"v1\"", 1000, 400) { $0.expectedSize = 999 })
        #expect(!isOfUse("\"v1\"", nil, 400) { $0.maximumSize = 399 })
    }

    @Test func nothingMissingIsWhole() {
        var machine = machine()
        let version = ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: Fingerprint.of(machineURL))
        #expect(machine.found(version, bytes: 1000) == true)
        #expect(machine.ask() == .rest(from: 1000, ifStill: .entityTag("\"v1\"")))
        let verdict = machine.answered(answer(416, tag: nil, length: 0, range: "bytes */1000"))
        #expect(verdict.step?.isComplete == true)
    }

    @Test func anEmptyFileIsAFile() {
        var machine = machine()
        _ = machine.ask()
        #expect(machine.answered(answer(200, length: 0)).isBegin)
        #expect(machine.bodyEnded().isComplete)
        #expect(machine.version?.length == 0)
    }

    @Test func chunksEndWithTheirLastChunk() {
        var machine = machine()
        _ = machine.ask()
        #expect(machine.answered(answer(200)).isBegin)
        #expect(machine.received(77) == nil)
        #expect(machine.bodyEnded().isComplete)
        #expect(machine.version?.length == 77)
    }

    @Test func aRedirectsQueryMayDiffer() {
        var machine = machine()
        _ = machine.ask()
        _ = machine.answered(answer(200, length: 1000, url: "https://cdn.example.org/f?signature=1"))
        _ = machine.received(400)
        _ = machine.failed(.networkLost(""))
        _ = machine.ask()
        let same = answer(206, length: 600, range: "bytes 400-999/1000", url: "https://cdn.example.org/f?signature=2")
        #expect(machine.answered(same).isAppend)
    }

    /// A machine whose file is whole.
    private func whole(framed: Bool = true, _ change: (inout DownloadOptions) -> Void = { _ in }) -> DownloadMachine {
        var machine = machine {
            $0.acceptsUnframedBodies = true
            change(&$0)
        }
        _ = machine.ask()
        _ = machine.answered(answer(200, length: framed ? 10 : nil, framed: framed))
        _ = machine.received(10)
        _ = machine.bodyEnded()
        return machine
    }

    @Test func theDigestHasTheLastWord() {
        var machine = whole()
        #expect(machine.digested([1, 2], expected: nil).isComplete)
        #expect(machine.digested([1, 2], expected: [1, 2]).isComplete)
        #expect(machine.digested([1, 2], expected: [1, 3]).error?.code == .checksumMismatch)
        machine = whole()
        #expect(machine.digested(nil, expected: [1, 3]).error?.code == .checksumMismatch)
    }

    @Test func whatWasPutTogetherIsFetchedAnewWhenItsDigestIsWrong() {
        // The connection's end may have been the server's.
        var machine = whole(framed: false) { $0.maximumRestarts = 1 }
        #expect(machine.digested([1], expected: [2]).pause == .zero)
        #expect(machine.version == nil)
        #expect(machine.ask() == .whole)
        _ = machine.answered(answer(200, length: 10, framed: true))
        _ = machine.received(10)
        #expect(machine.bodyEnded().isComplete)
        #expect(machine.digested([1], expected: [2]).error?.code == .checksumMismatch)
        // So may the pieces, also those of an earlier run.
        machine = DownloadMachine.interrupted()
        _ = machine.ask()
        _ = machine.answered(answer(206, length: 600, range: "bytes 400-999/1000"))
        _ = machine.received(600)
        #expect(machine.bodyEnded().isComplete)
        #expect(machine.digested([1], expected: [2]).pause == .zero)
    }
}
