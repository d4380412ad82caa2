// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// How many columns texts take.
@Suite(.timeLimit(.minutes(1)))
struct TextWidthTests {
    @Test(arguments: [
        ("abc", 3), ("", 0), (" ", 1), ("a\nlonger\nb", 6), ("│─┌", 3), ("…", 1), ("€", 1), ("–", 1), ("\u{AD}", 1),
    ])
    func plainCharactersTakeOneColumn(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test(arguments: [
        ("e\u{301}", 1), ("\u{E9}", 1), ("a\u{300}\u{323}\u{308}", 1), ("x\u{20DD}", 1), ("a\u{200B}b", 2),
        ("\u{FEFF}a", 1), ("ה\u{5B8}", 1), ("ไ\u{E49}", 1), ("か\u{3099}", 2),
        ("น้ำ", 2), ("क्ष", 2), ("नि", 2),
    ])
    func whatCombinesTakesNone(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test(arguments: [
        ("日本語", 6), ("ｱｲｳ", 3), ("アイウ", 6), ("Ａ１！", 6), ("￥", 2), ("。「」", 6), ("　", 2), ("〈x〉", 5),
        ("㈱", 2), ("𠮷", 2), ("ㄅ", 2), ("䷀", 1), ("〿", 1), ("𗀀", 2), ("︰", 2),
    ])
    func eastAsianCharactersAreAsWideAsUnicodeSays(text: String, columns: Int) {
        #expect(Text(text).width == columns)
    }

    @Test(arguments: [
        ("ｶ\u{FF9E}", 2), ("ﾊ\u{FF9F}", 2), ("ｶﾞｷﾞ", 4), ("カ\u{FF9E}", 3), ("\u{FF9E}", 1), ("ｰ", 1),
    ])
    func halfWidthKatakanaKeepTheirMarksBesideThem(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test(arguments: [
        ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1112}\u{1161}", 2), ("ㅎ", 2), ("ﾡ", 1), ("\u{A960}", 2),
    ])
    func aHangulSyllableTakesTwoHoweverItIsWritten(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test(arguments: [
        ("👍", 2), ("👍🏽", 2), ("✌", 1), ("✌🏽", 2), ("☝🏿", 2), ("👨‍👩‍👧", 2), ("👩🏽‍🚀", 2), ("🏳️‍🌈", 2), ("❤️‍🔥", 2),
        ("❤\u{200D}🔥", 2), ("🇩🇪", 2), ("🇩🇪🇫🇷", 4), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("⌚", 2), ("⚽", 2), ("🐈‍⬛", 2), ("🫠", 2),
    ])
    func anEmojiTakesTwoWhateverItIsMadeOf(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test(arguments: [
        ("❤", 1), ("❤\u{FE0F}", 2), ("❤\u{FE0E}", 1), ("☁", 1), ("☁\u{FE0F}", 2), ("🌡", 1), ("🌡\u{FE0F}", 2),
        ("1", 1), ("1\u{FE0F}\u{20E3}", 2), ("#\u{FE0F}\u{20E3}", 2), ("1\u{20E3}", 1), ("a\u{FE0F}", 1), ("©", 1),
        ("©\u{FE0F}", 2), ("✓", 1), ("日\u{FE00}", 2),
    ])
    func aVariationSelectorMakesAnEmojiOfASign(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test func namesLineUp() {
        let names = ["cat.png", "naïve café.txt", "日本語.txt", "👩‍👩‍👧 and 🐈‍⬛.png", "ｶﾞ.txt"]
        #expect(names.map { Text($0).width } == [7, 14, 10, 13, 6])
    }
}
