// SPDX-License-Identifier: Apache-2.0

extension Character {
    /// How many columns a terminal gives the character: usually 1, 2 for wide ones and emoji, 0 for combining ones (UAX
    /// 11, UTS 51).
    var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        // A variation selector turns a sign that is text by itself into an emoji, as in keycaps and hearts.
        if first.properties.isEmoji, unicodeScalars.contains("\u{FE0F}") { return 2 }
        if unicodeScalars.contains(where: \.properties.isEmojiPresentation) { return 2 }
        // A mark that is beside its base, such as sound marks of half-width katakana, takes columns of its own.
        return unicodeScalars.reduce(0) { $0 + $1.columns }
    }
}

extension Unicode.Scalar {
    /// How many columns the scalar takes by itself.
    fileprivate var columns: Int {
        if (0x20...0x7E).contains(value) { return 1 }
        if value == 0xAD { return 1 }  // a soft hyphen is shown
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // Vowels and final consonants of Hangul: their syllable has the columns.
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
        return Self.wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// Characters that are wide or full-width in `EastAsianWidth.txt` of Unicode 14 and no emoji, including the gaps
    /// between them.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x2FFFD,
        0x30000...0x3FFFD,
    ]
}
