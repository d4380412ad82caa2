// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// How far a request's body or its answer's has come: a line on the standard error that changes, on a terminal; elsewhere nothing.
final class ProgressLine: Sendable {
    private static let pace = Duration.milliseconds(100)
    private let isShown = Output.error.isTerminal
    private let start = ContinuousClock.now
    private let lastDrawn = Locked<ContinuousClock.Instant?>(nil)

    /// Draws the line, ten times a second at most.
    func show(_ written: Int64, of expected: Int64?) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let isDue = lastDrawn.withLock { last in
            guard written == expected || last.map({ now - $0 >= Self.pace }) ?? true else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let line = Self.line(written, of: expected, after: now - start, columns: TerminalSize(of: 2).columns)
        try? Output.error.write("\r\(line)\u{1B}[K")  // progress is a courtesy
    }

    /// Leaves the last state of the line where it is.
    func end() {
        guard isShown, lastDrawn.withLock({ $0 != nil }) else { return }
        try? Output.error.write("\n")
    }

    /// The line: a bar where the size is known, the amount, and the pace.
    static func line(_ written: Int64, of expected: Int64?, after time: Duration, columns: Int) -> String {
        let seconds = max(0.001, Double(time.nanosecondsRoundedUp) / 1e9)
        let pace = "\(ByteCount(Int(Double(written) / seconds)))/s"
        let amount = "\(ByteCount(Int(written)))"
        guard let expected, expected > 0 else {
            return Text("\(amount)  \(pace)").truncated(toColumns: columns - 1).plain
        }
        let left = written > 0 && written < expected ? Double(expected - written) * seconds / Double(written) : nil
        return ProgressBar.line(
            share: Double(written) / Double(expected), "\(amount) of \(ByteCount(Int(expected)))",
            pace + (left.map { "  \(Duration.saturating(seconds: $0).onTheClock) left" } ?? ""), columns: columns
        ).plain
    }
}
