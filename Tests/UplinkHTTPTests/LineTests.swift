// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct LineTests {
    /// The lines of pieces.
    private func lines(
        _ pieces: [[UInt8]], maximumLength: Int = 100, repairsText: Bool = false
    ) throws -> [String] {
        var splitter = LineSplitter(maximumLength: maximumLength, repairsText: repairsText)
        var lines: [String] = []
        for piece in pieces {
            piece.withUnsafeBytes { splitter.append($0) }
            while let line = try splitter.next() { lines.append(line) }
        }
        if let line = try splitter.finish() { lines.append(line) }
        return lines
    }

    @Test(arguments: [
        ("", []), ("\n", [""]), ("\r\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n", ["a"]), ("a\nb", ["a", "b"]),
        ("a\r\n\r\n\nb\r", ["a", "", "", "b\r"]), ("a\rb\r\r\n", ["a\rb\r"]),
        ("ü€😀\n\u{FEFF}x\n", ["ü€😀", "\u{FEFF}x"]),
        ("\n\n\n", ["", "", ""]),
    ])
    func linesAreTheSameHoweverTheBytesAreCut(_ text: String, _ expected: [String]) throws {
        let bytes = Array(text.utf8)
        #expect(try lines([bytes]) == expected)
        #expect(try lines(bytes.map { [$0] }) == expected)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
                #expect(try lines(pieces) == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func aLineMayBeAsLongAsTheMaximumAndNoLonger() throws {
        for (text, isAllowed) in [
            ("12345\n", true), ("12345\r\n", true), ("12345", true), ("123456\n", false), ("123456", false),
            ("123456\r\n", false), ("\n12345\r\n12345", true), ("1234567", false),
        ] {
            let bytes = Array(text.utf8)
            for pieces in [[bytes], bytes.map { [$0] }] {
                if isAllowed {
                    #expect(throws: Never.self, "\(text)") { try lines(pieces, maximumLength: 5) }
                } else {
                    let error = #expect(throws: HTTPClientError.self, "\(text)") {
                        try lines(pieces, maximumLength: 5)
                    }
                    #expect(error?.code == .lineTooLong)
                }
            }
        }
    }

    @Test func thereMayBeNoMaximum() throws {
        #expect(try lines([Array("a\nb".utf8)], maximumLength: .max) == ["a", "b"])
    }

    @Test func anEndlessLineIsNotHeld() {
        var splitter = LineSplitter(maximumLength: 10, repairsText: false)
        [UInt8](repeating: 1, count: 12).withUnsafeBytes { splitter.append($0) }
        #expect(throws: HTTPClientError.self) { try splitter.next() }
    }

    @Test func invalidTextThrowsUnlessItIsRepaired() throws {
        let bytes: [UInt8] = [0x61, 0x0A, 0xFF, 0x62, 0x0A, 0xC3]
        let error = #expect(throws: HTTPClientError.self) { try lines([bytes]) }
        #expect(error?.code == .invalidText)
        #expect(try lines([bytes], repairsText: true) == ["a", "\u{FFFD}b", "\u{FFFD}"])
    }

    @Test func aBodyIsReadAsLines() async throws {
        let pieces = Locked<[[UInt8]]>(["one\ntw", "o\r", "\nth", "ree"].map { Array($0.utf8) })
        let body = HTTPBody { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        var lines: [String] = []
        for try await line in body.lines() { lines.append(line) }
        #expect(lines == ["one", "two", "three"])
    }

    @Test func aBodyThatHasEndedIsNotAskedAgain() async throws {
        let pulls = Locked(0)
        let body = HTTPBody(pulling: {
            pulls.withLock { pulls in
                pulls += 1
                return pulls == 1 ? Array("a\nb".utf8) : nil
            }
        })
        var lines: [String] = []
        for try await line in body.lines() { lines.append(line) }
        #expect(lines == ["a", "b"])
        #expect(pulls.withLock { $0 } == 2)
    }

    @Test func linesBeforeAnErrorAreNotLost() async throws {
        struct Broken: Error {}
        let pieces = Locked<[[UInt8]]>([Array("one\ntwo\nth".utf8)])
        let body = HTTPBody { try pieces.withLock { if $0.isEmpty { throw Broken() } else { $0.removeFirst() } } }
        var lines: [String] = []
        await #expect(throws: Broken.self) { for try await line in body.lines() { lines.append(line) } }
        #expect(lines == ["one", "two"])
    }
}
