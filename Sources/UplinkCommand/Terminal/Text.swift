// SPDX-License-Identifier: Apache-2.0

/// Text with colours and weights, for a terminal: a value that is built with a result builder.
///
/// ```swift
/// Text {
///     "Hello "
///     Text(name).color(.red).bold()
///     Text.lineBreak
/// }
/// ```
struct Text: Sendable, Hashable {
    /// The eight colours that every terminal has, as its theme shows them.
    enum Color: Int, Sendable, Hashable { case black, red, green, yellow, blue, magenta, cyan, white }

    /// How a run of characters looks.
    struct Style: Sendable, Hashable {
        var color: Color?
        var background: Color?
        var isBold = false
        var isDim = false
        var isUnderlined = false
    }

    /// Characters with the same style.
    struct Run: Sendable, Hashable {
        var characters: String
        var style: Style
    }

    private(set) var runs: [Run]

    /// Creates plain text. Control characters other than a line break are replaced, because text may come from a
    /// server.
    init(_ characters: String = "") {
        let safe = characters.harmless()
        runs = safe.isEmpty ? [] : [Run(characters: safe, style: Style())]
    }

    /// Text made of parts.
    init(@TextBuilder _ content: () -> Text) { self = content() }

    static let comma = Text(",")
    static let lineBreak = Text("\n")
    static let space = Text(" ")

    /// One character that seems to turn.
    ///
    /// - Parameter turns: How often it has turned.
    static func spinner(_ turns: Int) -> Text {
        let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
        return Text(frames[turns % frames.count])
    }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum += right
        return sum
    }

    static func += (left: inout Self, right: Self) {
        for run in right.runs {
            if let last = left.runs.last, last.style == run.style {
                left.runs[left.runs.count - 1].characters += run.characters
            } else {
                left.runs.append(run)
            }
        }
    }

    func color(_ color: Color) -> Self { styled { $0.color = color } }
    func background(_ color: Color) -> Self { styled { $0.background = color } }
    func bold() -> Self { styled { $0.isBold = true } }
    func dim() -> Self { styled { $0.isDim = true } }
    func underline() -> Self { styled { $0.isUnderlined = true } }

    private func styled(_ change: (inout Style) -> Void) -> Self {
        var copy = Text()
        for var run in runs {
            change(&run.style)
            copy += Text(runs: [run])
        }
        return copy
    }

    private init(runs: [Run]) { self.runs = runs }
}

extension StringProtocol {
    /// The characters as a terminal may get them: control characters other than a line break, and what would make a
    /// text look like another, are replaced.
    func harmless(keepingTabs: Bool = false) -> String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.isHarmful && !(keepingTabs && $0 == "\t") ? "\u{FFFD}" : $0 }))
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would interpret the scalar, or it would make a text look like another.
    fileprivate var isHarmful: Bool {
        switch properties.generalCategory {
        case .control: self != "\n"
        case .lineSeparator, .paragraphSeparator: true
        default:
            // They change the direction.
            (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
                || [0x200E, 0x200F, 0x061C].contains(value)
        }
    }
}
