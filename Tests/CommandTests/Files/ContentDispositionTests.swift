// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// Names that a header field, a path or a terminal could trip over, and that come back equal nevertheless.
let oddNames = [
    "cat.png", "a b.txt", "semi;colon", "it's", "100%", "a=b", "comma, dot.", "naïve café.txt",
    "e\u{301}.txt", "日本語.txt", "🐈‍⬛ and 👩‍👩‍👧.png", "'';filename=x", "+plus&and#hash", " leading", "[x](y){z}~`^$!@",
]

@Suite(.timeLimit(.minutes(1)))
struct ContentDispositionTests {
    @Test(arguments: oddNames + ["quote\"d", "back\\slash", "line\r\nbreak", "nul\0", ""])
    func aNameComesBackEqual(name: String) throws {
        let field = ContentDisposition.attachment(named: name)
        let back = try #require(ContentDisposition.fileName(in: field))
        #expect(Array(back.utf8) == Array(name.utf8))
    }

    @Test(arguments: oddNames + ["quote\"d", "line\r\nX-Evil: 1", "nul\0", "tab\t", "\u{85}"])
    func noNameBreaksTheField(name: String) {
        let value = ContentDisposition.attachment(named: name).dropFirst("attachment;filename*=utf-8''".count)
        #expect(value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"\\;,'()<>@:/[]?={}*".utf8.contains($0) })
    }

    @Test(arguments: [
        ("attachment; filename=\"a;b \\\"c\\\".txt\"", "a;b \"c\".txt"),
        ("attachment; filename=plain.txt", "plain.txt"),
        ("attachment; filename=\"\u{301}a;b.txt\"", "\u{301}a;b.txt"),
        ("attachment;filename=x;filename*=UTF-8'en'%e2%82%ac", "€"), ("form-data; FILENAME*=utf-8''a", "a"),
    ])
    func otherFormsAreReadToo(field: String, name: String) {
        #expect(ContentDisposition.fileName(in: field) == name)
    }

    @Test(arguments: [
        "", "attachment", "attachment;filename*=utf-8''%", "attachment;filename*=utf-8''%zz",
        "attachment;filename*=utf-8''%ff", "attachment;filename*=latin1''a", "attachment;filename*=a", "filename=a",
    ])
    func whatNamesNoFileIsNone(field: String) {
        #expect(ContentDisposition.fileName(in: field) == nil)
    }
}
