// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// How far a request's body or its answer's has come: a line on the standard error that changes, on a terminal; elsewhere nothing.
final class ProgressLine: Sendable {
    private let isShown: Bool
    private let start = ContinuousClock.now
    private let story = Locked(ProgressStory())

    /// - Parameter isShown: Whether there is a line; not where it would stand among what the terminal shows.
    init(isShown: Bool = Output.error.isTerminal) { self.isShown = isShown }

    /// Draws the line, ten times a second at most.
    func show(_ written: Int64, of expected: Int64?) {
        guard isShown else { return }
        let now = ContinuousClock.now - start
        story.withLock { story in
            if story.take(written, of: expected, at: now) { Self.draw(story) }
        }
    }

    /// Draws the last state, if it is not, and leaves the line where it is. What follows stands below it.
    func end() {
        story.withLock { story in
            guard story.isDrawn else { return }
            if story.isBehind { Self.draw(story) }
            try? Output.error.write("\n")
            story = ProgressStory()
        }
    }

    private static func draw(_ story: ProgressStory) {
        let line = story.line(columns: TerminalSize(of: Output.error.descriptor).columns)
        try? Output.error.write("\r\(line)\u{1B}[K")  // progress is a courtesy
    }
}
