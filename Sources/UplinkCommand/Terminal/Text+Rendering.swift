// SPDX-License-Identifier: Apache-2.0

extension Text {
    /// Only the characters, for a pipe or if `NO_COLOR` is set.
    var plain: String { runs.map(\.characters).joined() }

    /// The characters with their styles as escape sequences (ECMA-48, SGR).
    var ansi: String {
        runs.map { $0.style.sequence + $0.characters + ($0.style == Style() ? "" : "\u{1B}[0m") }.joined()
    }

    /// The text in the form that suits the output.
    func rendered(withStyles: Bool) -> String { withStyles ? ansi : plain }

    /// How many columns the longest line takes.
    var width: Int { plain.split(separator: "\n").map { $0.reduce(0) { $0 + $1.columns } }.max() ?? 0 }
}

extension Text.Style {
    /// The sequence that switches the style on; empty for plain text.
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
