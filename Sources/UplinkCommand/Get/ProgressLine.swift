// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The progress of a request's or an answer's body: on a terminal, a line on standard error that changes; elsewhere
/// nothing.
final class ProgressLine: Sendable {
    private let isShown: Bool
    private let start = ContinuousClock.now
    /// The story; nil once the line has ended.
    private let story = Locked<ProgressStory?>(ProgressStory())

    init(isWanted: Bool = true) { isShown = isWanted && Output.error.isTerminal }

    /// Draws the line, at most ten times a second, and not once it has ended.
    func show(_ written: Int64, of expected: Int64?) {
        guard isShown else { return }
        let now = ContinuousClock.now - start
        story.withLock { story in
            if story?.take(written, of: expected, at: now) == true, let story { Self.draw(story) }
        }
    }

    /// Draws the last state, if it is not drawn yet, and leaves the line for good. Later output goes below it.
    func end() {
        story.withLock { story in
            defer { story = nil }
            guard let last = story, last.isDrawn else { return }
            if last.isBehind { Self.draw(last) }
            try? Output.error.write("\n")
        }
    }

    /// Writes lines above this one.
    func writeAbove(_ write: () -> Void) {
        story.withLock { story in
            let drawn = story.flatMap { $0.isDrawn ? $0 : nil }
            if drawn != nil { try? Output.error.write("\r\u{1B}[K") }
            write()
            if let drawn { Self.draw(drawn) }
        }
    }

    private static func draw(_ story: ProgressStory) {
        let line = story.line(columns: TerminalSize(of: Output.error.descriptor).columns)
        try? Output.error.write("\r\(line)\u{1B}[K")  // progress is a courtesy
    }
}
