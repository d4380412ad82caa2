// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What to report about a transfer under way, and when. Knows neither terminal nor clock.
struct ProgressStory: Sendable {
    private struct Point {
        let bytes: Int64
        let time: Duration
    }

    /// The least time between two drawings.
    static let pause = Duration.milliseconds(100)

    /// The first state: the share of an earlier download took no time here.
    private var first: Point?
    private var last: Point?
    private var expected: Int64?
    private var drawnAt: Duration?
    /// Whether the last state has not been drawn yet.
    private(set) var isBehind = false

    /// Whether there is a line on the terminal.
    var isDrawn: Bool { drawnAt != nil }

    /// Takes a state.
    ///
    /// - Parameter now: The time since the start.
    /// - Returns: Whether to draw it now.
    mutating func take(_ bytes: Int64, of expected: Int64?, at now: Duration) -> Bool {
        let point = Point(bytes: bytes, time: now)
        // A number that falls belongs to something else: an answer after its request, or a file that is started over.
        if last.map({ bytes < $0.bytes }) ?? true { first = point }
        (last, self.expected) = (point, expected)
        isBehind = !(bytes == expected || drawnAt.map { now - $0 >= Self.pause } ?? true)
        if !isBehind { drawnAt = now }
        return !isBehind
    }

    /// The line: a bar if the size is known, the amount, and the pace as soon as there is one.
    func line(columns: Int) -> String {
        let bytes = last?.bytes ?? 0
        let pace = pace
        let amount = "\(ByteCount(Int(bytes)))"
        let news = pace > 0 ? "\(ByteCount(Int(min(pace, 1e18))))/s" : ""
        guard let expected, expected > 0 else {
            return Text(news.isEmpty ? amount : "\(amount)  \(news)").truncated(toColumns: columns - 1).plain
        }
        let left = pace > 0 && bytes < expected ? Double(expected - bytes) / pace : nil
        return ProgressBar.line(
            share: Double(bytes) / Double(expected), "\(amount) of \(ByteCount(Int(expected)))",
            news + (left.map { "  \(Duration.saturating(seconds: $0).onTheClock) left" } ?? ""), columns: columns
        ).plain
    }

    /// Bytes per second.
    private var pace: Double {
        guard let first, let last else { return 0 }
        let seconds = max(0.001, Double((last.time - first.time).nanosecondsRoundedUp) / 1e9)
        return Double(last.bytes - first.bytes) / seconds
    }
}
