// SPDX-License-Identifier: Apache-2.0

extension Text {
    /// The characters alone, for a pipe or where `NO_COLOR` is set.
    var plain: String { runs.map(\.characters).joined() }

    /// The characters with their looks as escape sequences (ECMA-48, SGR).
    var ansi: String {
        runs.map { $0.style.sequence + $0.characters + ($0.style == Style() ? "" : "\u{1B}[0m") }.joined()
    }

    /// What suits the output.
    func rendered(withStyles: Bool) -> String { withStyles ? ansi : plain }

    /// How many columns the longest line takes.
    var width: Int { plain.split(separator: "\n").map { $0.reduce(0) { $0 + $1.columns } }.max() ?? 0 }
}

extension Text.Style {
    /// The sequence that switches the look on; empty for plain text.
    fileprivate var sequence: String {
        var codes: [Int] = []
        if isBold { codes.append(1) }
        if isDim { codes.append(2) }
        if isUnderlined { codes.append(4) }
        if let color { codes.append(30 + color.rawValue) }
        if let background { codes.append(40 + background.rawValue) }
        return codes.isEmpty ? "" : "\u{1B}[\(codes.map(String.init).joined(separator: ";"))m"
    }
}

extension Character {
    /// How many columns a terminal gives the character: 0, 1 or 2 (Unicode TR 11).
    var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
        }
    }

    /// East Asian wide and full-width blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18CFF, 0x1B000...0x1B2FF, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
