// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkHTTP

@testable import Uplink

/// Answers that are not believed: each makes the machine forget what it has and ask for the whole, never append.
@Suite(.timeLimit(.minutes(1)))
struct DownloadDistrustTests {
    /// An answer to a request for the bytes from 400 on, of 1000, of version `v1`.
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: DownloadAnswer

        init(_ name: String, _ answer: DownloadAnswer) { (testDescription, self.answer) = (name, answer) }
    }

    static let lies: [Lie] = [
        Lie("starts elsewhere", answer(206, length: 601, range: "bytes 399-999/1000")),
        Lie("starts at zero", answer(206, length: 1000, range: "bytes 0-999/1000")),
        Lie("has no Content-Range", answer(206, length: 600)),
        Lie("has one that cannot be read", answer(206, length: 600, range: "bytes 400-/1000")),
        Lie("has another unit", answer(206, length: 600, range: "lines 400-999/1000")),
        Lie("has ends that contradict each other", answer(206, length: 600, range: "bytes 400-300/1000")),
        Lie("ends beyond the end", answer(206, length: 601, range: "bytes 400-1000/1000")),
        Lie("has grown", answer(206, length: 1600, range: "bytes 400-1999/2000")),
        Lie("has shrunk", answer(206, length: 100, range: "bytes 400-499/500")),
        Lie("is longer than its range", answer(206, length: 700, range: "bytes 400-999/1000")),
        Lie("is shorter than its range", answer(206, length: 500, range: "bytes 400-999/1000")),
        Lie("is another version", answer(206, tag: "\"v2\"", length: 600, range: "bytes 400-999/1000")),
        Lie("is a weak version", answer(206, tag: "W/\"v1\"", length: 600, range: "bytes 400-999/1000")),
        Lie("says nothing of its version", answer(206, tag: nil, length: 600, range: "bytes 400-999/1000")),
        Lie(
            "has parts",
            answer(
                206, length: 600, range: "bytes 400-999/1000",
                fields: [.contentType: "Multipart/ByteRanges; boundary=x"])),
        Lie(
            "comes from elsewhere",
            answer(206, length: 600, range: "bytes 400-999/1000", url: "https://mirror.example.org/disk.iso")),
        Lie(
            "is encoded when the beginning is not",
            answer(206, length: 600, range: "bytes 400-999/1000", fields: [.contentEncoding: "gzip"])),
        Lie("416: has shrunk", answer(416, tag: nil, length: 0, range: "bytes */300")),
        Lie("416: says that nothing is missing", answer(416, tag: nil, length: 0, range: "bytes */1000")),
        Lie("416: says nothing", answer(416, tag: nil, length: 0)),
        Lie("412", answer(412, length: 0)),
        Lie("200: is suddenly empty", answer(200, tag: "\"v2\"", length: 0)),
        Lie("200: is the same with another length", answer(200, length: 600)),
        Lie("200: begins where the rest does", answer(200, tag: "\"v2\"", length: 600, range: "bytes 400-999/1000")),
    ]

    @Test(arguments: lies)
    func aLieIsNotAppended(lie: Lie) {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        #expect(machine.answered(lie.answer).step?.pause == .zero)
        #expect((machine.received, machine.restarts) == (0, 1))
        #expect(machine.ask() == .whole)
    }

    /// A range that is all there is says nothing else than 200 does.
    @Test(arguments: [
        answer(200, length: 1000), answer(200, tag: "\"v2\"", length: 600), answer(200, length: nil),
        answer(200, length: 1000, range: "bytes 0-999/1000"),
        answer(200, length: 300, fields: [.contentEncoding: "gzip"]),
    ])
    func aWholeThatMayBeOneIsBegunWith(answer: DownloadAnswer) {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        #expect(machine.answered(answer).isBegin)
        #expect((machine.received, machine.restarts) == (0, 1))
    }

    /// A part need not repeat its content coding (RFC 9110, section 15.3.7), but must not have another one.
    @Test(arguments: [nil, "gzip", "GZIP", "br", "identity", "gzip, br"])
    func aPartIsInTheCodingOfTheBeginning(coding: String?) {
        var machine = machine()
        _ = machine.ask()
        _ = machine.answered(answer(200, length: 1000, fields: [.contentEncoding: "gzip"]))
        _ = machine.received(400)
        _ = machine.failed(.networkLost(""))
        // Also in another process.
        let record = machine.version.flatMap {
            PartialRecord(of: $0, askedFor: machineURL, synchronised: 400, boot: "b", file: 7)
        }
        #expect(record.flatMap { PartialRecord(text: $0.text)?.version } == machine.version)
        _ = machine.ask()
        var fields = HTTPFields()
        fields[.contentEncoding] = coding
        let verdict = machine.answered(
            answer(206, length: 600, range: "bytes 400-999/1000", fields: fields))
        #expect(verdict.isAppend == (coding == nil || coding?.lowercased() == "gzip"))
        #expect(verdict.isAppend == (machine.received == 400))
    }

    /// A server that compresses whole answers as it sends them, and has parts of the plain file, with one date for
    /// both.
    @Test(arguments: [nil, 900, 1000] as [Int64?], ["bytes 400-999/1000", "bytes 400-999/*"])
    func aDateDoesNotTellCodingsApart(length: Int64?, range: String) {
        let date: HTTPFields = [
            .lastModified: "Tue, 01 Sep 2020 00:00:00 GMT", .date: "Tue, 01 Sep 2026 00:00:00 GMT",
        ]
        var machine = machine()
        _ = machine.ask()
        var coded = date
        coded[.contentEncoding] = "gzip"
        _ = machine.answered(answer(200, tag: nil, length: length, fields: coded))
        _ = machine.received(400)
        _ = machine.failed(.networkLost(""))
        #expect(machine.ask() != .whole)
        let verdict = machine.answered(answer(206, tag: nil, length: 600, range: range, fields: date))
        #expect(verdict.isAppend == (length == 1000 && range.hasSuffix("/1000")))
    }

    @Test func aWholeThatIsAnotherVersionsIsNot() {
        var machine = machine()
        let version = ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: Fingerprint.of(machineURL))
        _ = machine.found(version, bytes: 1000)
        _ = machine.ask()
        let other = answer(416, tag: "\"v2\"", length: 0, range: "bytes */1000")
        #expect(machine.answered(other).step?.pause == .zero)
        #expect(machine.ask() == .whole)
    }

    @Test func aPartTooManyIsCutOff() {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        _ = machine.answered(answer(206, range: "bytes 400-999/1000"))  // chunks
        #expect(machine.received(600) == nil)
        #expect(machine.received(1)?.pause == .zero)
        #expect((machine.received, machine.restarts) == (0, 1))
    }

    @Test func aPartThatEndsEarlyIsNotWhole() {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        _ = machine.answered(answer(206, range: "bytes 400-999/1000"))
        _ = machine.received(599)
        #expect(machine.bodyEnded().pause != nil)
        #expect(machine.ask() == .rest(from: 999, ifStill: .entityTag("\"v1\"")))
    }

    @Test func aSuddenNothingInChunksIsNotBelieved() {
        var full = DownloadMachine.interrupted()
        _ = full.ask()
        #expect(full.answered(answer(200, tag: "\"v2\"")).isBegin)
        #expect(full.bodyEnded().pause != nil)
        #expect(full.ask() == .whole)
        // A file that was never said to have bytes may have none.
        var empty = machine()
        _ = empty.ask()
        _ = empty.answered(answer(200))
        #expect(empty.bodyEnded().isComplete)
    }

    /// A portal that wants to be signed in to, say, which is there for a while.
    static let strangers = [
        Lie("another place", answer(200, length: 26, url: "https://portal.example.org/login")),
        Lie("no validator", answer(200, tag: nil, length: 26)),
        Lie("another place, empty", answer(200, length: 0, url: "https://portal.example.org/login")),
    ]

    @Test(arguments: strangers)
    func aWholeFromAStrangerIsDoubtedForAWhile(stranger: Lie) {
        // Nor does its size end anything.
        var machine = DownloadMachine.interrupted { $0.expectedSize = 1000 }
        for pause in [250, 500, 1000, 2000] {
            #expect(machine.ask() == .rest(from: 400, ifStill: .entityTag("\"v1\"")))
            let step = machine.answered(stranger.answer).step
            #expect(step?.pause == .milliseconds(pause))
            #expect((machine.received, machine.restarts) == (400, 0))
        }
        var patient = machine
        _ = patient.ask()
        #expect(patient.answered(answer(206, length: 600, range: "bytes 400-999/1000")).isAppend)
        // It does not pass.
        _ = machine.ask()
        let step = machine.answered(stranger.answer).step
        #expect(step?.error?.code == .sizeMismatch || machine.restarts == 1)
    }

    @Test(arguments: [nil, 0, 1, 3] as [Int?]) func aWholeFromAStrangerIsBelievedInTheEnd(failures: Int?) {
        var machine = DownloadMachine.interrupted {
            $0.backOff.maximumFailures = failures
            $0.backOff.maximumFirstFailures = failures
        }
        let moved = answer(200, tag: "\"v2\"", length: 70, url: "https://mirror.example.org/disk.iso")
        for _ in 1..<DownloadMachine.maximumDoubts {
            _ = machine.ask()
            #expect(machine.answered(moved).step?.pause != nil)
        }
        _ = machine.ask()
        #expect(machine.answered(moved).isBegin)
        #expect((machine.received, machine.restarts) == (0, 1))
    }

    @Test(arguments: [400, 403, 406, 501]) func whoRefusesTheRestIsAskedForTheWholeOnce(status: Int) {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        #expect(machine.answered(answer(status, tag: nil)).step?.pause == .zero)
        #expect(machine.ask() == .whole)
        #expect(machine.received == 400)
        var willing = machine
        #expect(willing.answered(answer(200, length: 1000)).isBegin)
        #expect((willing.received, willing.restarts) == (0, 1))
        // A refusal is final, and what is there is kept.
        var unwilling = machine
        #expect(unwilling.answered(answer(status, tag: nil)).step?.error?.status == status)
        #expect(unwilling.received == 400)
        // A stranger is not believed, and the next refusal is final.
        #expect(machine.answered(answer(200, tag: nil, length: 26)).step?.pause == .milliseconds(250))
        #expect(machine.ask() == .rest(from: 400, ifStill: .entityTag("\"v1\"")))
        #expect(machine.answered(answer(status, tag: nil)).step?.error?.status == status)
    }

    @Test func aWholeThatCallsItselfAPartIsNone() {
        for (range, isWhole) in [
            ("bytes 0-99/1000", false), ("bytes 1-100/101", false), ("bytes 0-99/100", true), ("bytes 0-99/99", true),
            ("bytes 0-99/*", true),
        ] {
            var machine = machine()
            _ = machine.ask()
            #expect(machine.answered(answer(200, length: 100, range: range)).isBegin == isWhole, "\(range)")
        }
    }

    @Test func whySomethingIsNotBelievedIsToldAsItIs() {
        func reason(_ answer: DownloadAnswer) -> String? {
            var machine = DownloadMachine.interrupted()
            _ = machine.ask()
            guard case .leave(.again(_, let reason)) = machine.answered(answer) else { return nil }
            return reason
        }
        let mirror = answer(
            206, length: 600, range: "bytes 400-999/1000", url: "https://mirror.example.org/disk.iso")
        #expect(reason(mirror) == "the rest would come from another place than the beginning")
        let changed = answer(206, tag: "\"v2\"", length: 600, range: "bytes 400-999/1000")
        #expect(reason(changed) == "the file has changed on the server")
    }

    @Test func aPartThatNobodyAskedForIsAnError() {
        var machine = machine()
        _ = machine.ask()
        let error = machine.answered(answer(206, length: 1000, range: "bytes 0-999/1000")).step?.error
        #expect(error?.code == .unexpectedStatus)
        #expect(error?.status == 206)
    }

    @Test func aServerThatAlwaysLiesEndsIt() {
        var machine = DownloadMachine.interrupted { $0.maximumRestarts = 3 }
        var pauses: [Duration] = []
        while true {
            guard case .rest = machine.ask() else {
                _ = machine.answered(answer(200, length: 1000))
                _ = machine.received(400)
                _ = machine.failed(.networkLost(""))
                continue
            }
            let step = machine.answered(answer(206, length: 1000, range: "bytes 0-999/1000")).step
            guard let pause = step?.pause else {
                #expect(step?.error?.code == .tooManyRestarts)
                break
            }
            pauses.append(pause)
        }
        #expect(pauses.count == 3)
        #expect(pauses[0] == .zero && pauses[1] > .zero)
        #expect(machine.state == .failed)
    }

    @Test func whereAFileSeemsToHaveBecomeEmptyItIsSaidWhatToDo() {
        var machine = DownloadMachine.interrupted { $0.maximumRestarts = 1 }
        let empty = answer(200, tag: "\"v2\"", length: 0)
        _ = machine.ask()
        #expect(machine.answered(empty).step?.pause == .zero)
        _ = machine.ask()
        let error = machine.answered(empty).step?.error
        #expect(error?.code == .tooManyRestarts)
        #expect(error?.message.hasSuffix("empty all of a sudden; if it really is, download it again") == true)
        // A run that begins with nothing believes it.
        var next = UplinkTests.machine()
        _ = next.ask()
        #expect(next.answered(empty).isBegin)
        #expect(next.bodyEnded().isComplete)
    }

    @Test func aServerThatGivesNoPartsEndsItInTheEnd() {
        var machine = DownloadMachine.interrupted { $0.maximumRestarts = 1 }
        _ = machine.ask()
        #expect(machine.answered(answer(200, length: 1000)).isBegin)
        _ = machine.received(100)
        _ = machine.failed(.networkLost(""))
        _ = machine.ask()
        #expect(machine.answered(answer(200, length: 1000)).step?.error?.code == .tooManyRestarts)
    }

    @Test func aBodyWithoutAnEndIsRefusedUnlessSomethingElseTells() {
        func verdict(_ change: (inout DownloadOptions) -> Void = { _ in }) -> DownloadMachine.Verdict {
            var machine = machine(change)
            _ = machine.ask()
            return machine.answered(answer(200, framed: false))
        }
        #expect(verdict().step?.error?.code == .unframedBody)
        #expect(verdict { $0.acceptsUnframedBodies = true }.isBegin)
        #expect(verdict { $0.expectedSize = 7 }.isBegin)
        #expect(verdict { $0.checksum = .sha256(expecting: [1]) }.isBegin)
        #expect(verdict { $0.checksum = .sha256() }.step?.error?.code == .unframedBody)
    }
}
