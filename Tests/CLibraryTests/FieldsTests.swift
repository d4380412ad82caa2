// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkC

/// Lines of header fields as C programs give them.
@Suite(.timeLimit(.minutes(1)))
struct FieldsTests {
    private func value(_ line: String) throws -> [UInt8]? {
        try line.withCString { line in
            let lines: [UnsafePointer<CChar>?] = [line, nil]
            let fields = try lines.withUnsafeBufferPointer { try Fields.read($0.baseAddress) }
            return fields.first.map { Array($0.value.utf8) }
        }
    }

    @Test(arguments: ["b", "\u{301}b", "\u{200D}b", "\u{FE0F}"])
    func aValueMayBeginWithWhatCombinesWithTheColonOrBlank(_ text: String) throws {
        for blanks in ["", " ", "\t "] { #expect(try value("X-A:\(blanks)\(text)") == Array(text.utf8)) }
    }

    @Test(arguments: ["X-A", "", ": b", "X A: b"]) func otherLinesAreRefused(_ line: String) {
        #expect(throws: StatusError.self) { _ = try value(line) }
    }
}
