// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct JSONTextTests {
    private func objection(_ text: String) -> String? { JSONText.objection(to: Array(text.utf8)) }

    @Test func onlyWhatIsTooDeepIsRefused() {
        let most = JSONText.maximumDepth
        #expect(objection(String(repeating: "[", count: most)) == nil)
        #expect(objection(String(repeating: "[", count: most + 1)) == "it is nested deeper than 512 levels")
        #expect(objection(String(repeating: "{\"a\":[", count: most / 2) + "{") != nil)
        #expect(objection("[" + String(repeating: "[],{},", count: 1000) + "[]]") == nil)
    }

    @Test func bracketsInStringsDoNotCount() {
        let many = String(repeating: "[{", count: 1000)
        #expect(objection("[\"\(many)\"]") == nil)
        #expect(objection("[\"\\\"\(many)\"]") == nil)
        #expect(objection("[\"\\\\\"\(many)") != nil)
        #expect(objection("[\"é\u{2028}\(many)\", \"\(many)\"]") == nil)
    }

    @Test func otherEncodingsAreRefused() {
        #expect(JSONText.objection(to: "[1]".utf16.flatMap { [UInt8($0), 0] }) == "it is not in UTF-8")
        #expect(JSONText.objection(to: [0, 0x5B, 0, 0x5D]) != nil)
    }
}
