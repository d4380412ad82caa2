// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing

@testable import UplinkHTTP

/// Lines that go on as an earlier head did are offered to ``HeadParser/repeats(_:)`` first, as the engine does: what is
/// read is the same as by a parser that knows of no earlier head.
@Suite(.timeLimit(.minutes(1)))
struct RepeatedLineTests {
    private static let head = ["HTTP/1.1 200 OK", "Server: nginx", "A: 1", "Content-Length: 5", "A: 1", ""]

    /// What a parser says to some lines, and what it knows at the end.
    private struct Reading: Equatable {
        var events: [HeadParser.Event] = []
        var failure: HTTPClientError.Code?
        /// Statuses and fields to the letter; `==` of their own asks less.
        var texts: [String] = []
        var isHTTP10 = false
        var isAtStatusLine = false
        var hasBegun = false

        mutating func note(_ event: HeadParser.Event) {
            events.append(event)
            switch event {
            case .more, .trailers: break
            case .interim(let status): texts.append("\(status.code) \(status.reasonPhrase)")
            case .final(let head):
                texts.append("\(head.status.code) \(head.status.reasonPhrase) \(head.framing)")
                note(head.response.headerFields)
            }
        }

        mutating func note(_ fields: HTTPFields) {
            for field in fields { texts.append("\(field.name.rawName): \(field.value)") }
        }
    }

    /// Reads lines, of which those at some places are offered as repetitions first.
    ///
    /// - Returns: What was read, and at which places the lines were taken as repetitions.
    private func read(
        _ lines: [[UInt8]], method: HTTPRequest.Method = .get, limits: HTTPLimits = .init(),
        after earlier: RememberedHead, offering offered: Range<Int> = 0..<Int.max
    ) -> (reading: Reading, repeated: [Int]) {
        var parser = HeadParser(method: method, limits: limits)
        var reading = Reading()
        var repeated: [Int] = []
        do throws(HTTPClientError) {
            for (place, line) in lines.enumerated() {
                let isRepetition = offered.contains(place) && line.withUnsafeBytes { parser.repeats($0) }
                if isRepetition {
                    repeated.append(place)
                    reading.note(.more)
                } else {
                    reading.note(try parser.take(line: line, after: earlier))
                }
            }
        } catch {
            reading.failure = error.code
        }
        (reading.isHTTP10, reading.isAtStatusLine) = (parser.isHTTP10, parser.isAtStatusLine)
        reading.hasBegun = parser.hasBegun
        reading.note(parser.trailerFields)
        return (reading, repeated)
    }

    /// As ``read(_:method:limits:after:offering:)`` does, with no earlier head and nothing offered.
    private func readAlone(
        _ lines: [[UInt8]], method: HTTPRequest.Method = .get, limits: HTTPLimits = .init()
    ) -> Reading { read(lines, method: method, limits: limits, after: .none, offering: 0..<0).reading }

    private func bytes(_ lines: [String]) -> [[UInt8]] { lines.map { Array("\($0)\r\n".utf8) } }

    /// What is remembered of a head that can be read.
    private func remembered(_ lines: [String], method: HTTPRequest.Method = .get) throws -> RememberedHead {
        var parser = HeadParser(method: method, limits: .init())
        for line in bytes(lines) { _ = try parser.take(line: line) }
        return try #require(parser.remembered)
    }

    @Test func everyFieldOfARepeatedHeadIsTakenAsARepetition() throws {
        let earlier = try remembered(Self.head)
        let interim = ["HTTP/1.1 103 Early Hints", "A: 1", "", "HTTP/1.1 100 Continue", ""]
        // The last line is a trailer that looks like the first field.
        let (reading, repeated) = read(bytes(Self.head + ["Server: nginx"]), after: earlier)
        #expect(repeated == [1, 2, 3, 4])
        #expect(reading == readAlone(bytes(Self.head + ["Server: nginx"])))
        let (later, behind) = read(bytes(interim + Self.head), after: earlier)
        #expect(behind == [6, 7, 8, 9])
        #expect(later == readAlone(bytes(interim + Self.head)))
    }

    @Test func aLineThatIsNoRepetitionIsLeftAlone() throws {
        let earlier = try remembered(Self.head)
        let all = bytes(Self.head)
        var parser = HeadParser(method: .get, limits: .init())
        func repeats(_ line: [UInt8]) -> Bool { line.withUnsafeBytes { parser.repeats($0) } }
        #expect(!repeats(all[0]))  // it has to be told which head is the earlier one
        _ = try parser.take(line: all[0], after: earlier)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        let others = [all[0], all[2], Array(all[1].dropLast()), Array(all[1].dropFirst()), all[1] + [0x0A]]
        let isNothingOne = parser.repeats(none)
        #expect(!isNothingOne)
        for other in others { #expect(!repeats(other)) }
        #expect(repeats(all[1]))
        _ = try parser.take(line: Array("A: 2\r\n".utf8))
        for line in all { #expect(!repeats(line)) }  // it goes on in a way of its own
        guard case .final(let head) = try parser.take(line: all[5]) else {
            Issue.record("not final")
            return
        }
        #expect(head.response.headerFields.map(\.value) == ["nginx", "2"])
        for line in all { #expect(!repeats(line)) }
        #expect(parser.trailerFields.isEmpty)
    }

    @Test func theEndOfAHeadIsNoRepetition() throws {
        let earlier = try remembered(Self.head)
        let all = bytes(Self.head)
        var parser = HeadParser(method: .get, limits: .init())
        for line in all.dropLast() { _ = try parser.take(line: line, after: earlier) }
        let isRepetition = all[5].withUnsafeBytes { parser.repeats($0) }
        #expect(!isRepetition)
        guard case .final(let head) = try parser.take(line: all[5]) else {
            Issue.record("not final")
            return
        }
        #expect(head === earlier.head)
        #expect(parser.remembered == nil)
    }

    @Test func ofAnotherMethodNothingIsARepetition() throws {
        for (one, other) in [(HTTPRequest.Method.head, HTTPRequest.Method.get), (.get, .head), (.get, .post)] {
            let earlier = try remembered(Self.head, method: one)
            let (reading, repeated) = read(bytes(Self.head), method: other, after: earlier)
            #expect(repeated.isEmpty)
            #expect(reading == readAlone(bytes(Self.head), method: other))
        }
    }

    /// The limits are this request's, and the earlier head may have been another's.
    @Test func theLimitsHoldToTheByteAndToTheField() throws {
        let earlier = try remembered(Self.head)
        let interim = ["HTTP/1.1 103 Early Hints", "A: 1", ""]
        let longer = Array(Self.head[..<5]) + ["B: 1", ""]
        let shorter = Array(Self.head[..<4]) + [""]
        let heads: [[String]] = [Self.head, interim + Self.head, Self.head + Self.head, longer, shorter]
        let size = bytes(Self.head).reduce(0) { $0 + $1.count }
        for head in heads {
            let lines = bytes(head)
            for fields in 1...6 {
                var limits = HTTPLimits()
                limits.headerFields = fields
                #expect(read(lines, limits: limits, after: earlier).reading == readAlone(lines, limits: limits))
            }
            for count in 1...(size + 10) {
                var limits = HTTPLimits()
                limits.headerBytes = count
                #expect(read(lines, limits: limits, after: earlier).reading == readAlone(lines, limits: limits))
            }
        }
        var exact = HTTPLimits()
        (exact.headerFields, exact.headerBytes) = (4, size)
        #expect(read(bytes(Self.head), limits: exact, after: earlier).reading.failure == nil)
        exact.headerFields = 3
        #expect(read(bytes(Self.head), limits: exact, after: earlier).reading.failure == .headerTooLarge)
        (exact.headerFields, exact.headerBytes) = (4, size - 1)
        #expect(read(bytes(Self.head), limits: exact, after: earlier).reading.failure == .headerTooLarge)
    }

    // MARK: By chance

    private static let fields = ["A: 1", "A: 2", "a: 1", "B: 1", "B:  1", "Server: nginx", "Content-Length: 5", "C:"]
    private static let others: [String] =
        fields + [
            "", "Transfer-Encoding: chunked", "Content-Length: 6", " folded", "no colon", "A : 1", "HTTP/1.1 200 OK",
            "HTTP/1.0 200 OK", "HTTP/1.1 200 Fine", "HTTP/1.1 204 No Content", "HTTP/1.1 101 Other",
            "HTTP/1.1 103 Early",
        ]

    /// A head that can be read.
    private func someHead(_ generator: inout SeededGenerator) -> [String] {
        let version = generator.oneIn(4) ? "0" : "1"
        let status = generator.oneIn(4) ? "204 No Content" : "200 OK"
        let count = Int.random(in: 0...6, using: &generator)
        return ["HTTP/1.\(version) \(status)"] + someFields(count, &generator) + [""]
    }

    private func someFields(_ count: Int, _ generator: inout SeededGenerator) -> [String] {
        var chosen: [String] = []
        for _ in 0..<count { chosen.append(Self.fields.randomElement(using: &generator) ?? "") }
        return chosen
    }

    /// What comes after a head: the same, or almost, with something before and behind it.
    private func variation(of head: [String], _ generator: inout SeededGenerator) -> [[UInt8]] {
        var lines = head
        let place = Int.random(in: 0..<lines.count, using: &generator)
        let other = Self.others.randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: break
        case 1: lines.insert(other, at: place)
        case 2: lines.remove(at: place)
        case 3: lines[place] = other
        case 4: lines.removeLast(lines.count - place)
        case 5: lines.insert(lines[place], at: place)
        default: lines.insert(other, at: lines.count - 1)
        }
        if generator.oneIn(3) { lines = ["HTTP/1.1 103 Early"] + someFields(1, &generator) + [""] + lines }
        if generator.oneIn(3) { lines += someFields(2, &generator) + [""] }
        var result: [[UInt8]] = []
        for line in lines {
            let end = generator.oneIn(60) ? "" : generator.oneIn(20) ? "\n" : "\r\n"
            result.append(Array((line + end).utf8))
        }
        return result
    }

    /// Each of 300 heads with something like it behind it, under three sets of limits, with the lines up to each place
    /// offered as repetitions, and with those from there on.
    @Test func whateverComesIsReadAsByAParserWithoutMemory() throws {
        var generator = SeededGenerator(seed: 1)
        var count = 0
        for round in 0..<300 {
            let head = someHead(&generator)
            let earlier = try remembered(head)
            let lines = variation(of: head, &generator)
            let method: HTTPRequest.Method = generator.oneIn(8) ? .head : .get
            var few = HTTPLimits()
            few.headerFields = Int.random(in: 1...6, using: &generator)
            var short = HTTPLimits()
            short.headerBytes = Int.random(in: 10...100, using: &generator)
            for limits in [HTTPLimits(), few, short] {
                let alone = readAlone(lines, method: method, limits: limits)
                for place in 0...lines.count {
                    for offered in [0..<place, place..<Int.max] {
                        let (reading, repeated) = read(
                            lines, method: method, limits: limits, after: earlier, offering: offered)
                        #expect(reading == alone, "round \(round), \(offered) of \(lines.map(\.count)) after \(head)")
                        count += repeated.count
                    }
                }
            }
        }
        #expect(count > 1000, "hardly anything was a repetition")
    }
}
