// SPDX-License-Identifier: Apache-2.0
import Uplink

/// The progress line while files are downloaded.
enum DownloadLine {
    /// The progress of one download: a bar, the amount, and what it is doing; when it waits, for what, and for how much
    /// longer.
    static func text(_ progress: DownloadProgress, columns: Int) -> Text {
        ProgressBar.line(
            share: progress.fraction, amount(progress.receivedBytes, of: progress.totalBytes), news(of: progress),
            columns: columns, style: { progress.isHeldUp ? $0.color(.yellow) : $0 })
    }

    /// The progress of a batch, all in one line; while everything that runs is held up, also what holds it up.
    ///
    /// - Returns: Nil for a single file that has failed: the line with how far it came stays, and the program's error
    ///   message says why.
    static func text(_ progress: DownloadBatchProgress, columns: Int) -> Text? {
        if progress.items.count == 1, progress.failedCount == 1 { return nil }
        var words = amount(progress.receivedBytes, of: progress.totalBytes)
        if progress.items.count > 1 { words += "  \(progress.finishedCount) of \(progress.items.count) files" }
        if progress.failedCount > 0 { words += ", \(progress.failedCount) failed" }
        let share: Double? = progress.totalBytes.flatMap { total in
            guard total <= 0 else { return Double(progress.receivedBytes) / Double(total) }
            return progress.failedCount == 0 ? 1 : nil  // the sizes of failed ones are not counted
        }
        let running = progress.items.compactMap { if case .running(let one) = $0 { one } else { nil } }
        if progress.items.count == 1, let only = running.first { return text(only, columns: columns) }
        if let first = running.first, running.allSatisfy(\.isHeldUp) {
            return ProgressBar.line(
                share: share, words, news(of: first), columns: columns, style: { $0.color(.yellow) })
        }
        let pace = running.isEmpty ? "" : pace(progress.bytesPerSecond, progress.timeLeft)
        return ProgressBar.line(share: share, words, pace, columns: columns)
    }

    /// What a download is doing, apart from its number of bytes.
    static func news(of progress: DownloadProgress) -> String {
        switch progress.phase {
        case .preparing: return "preparing"
        case .waitingForNetwork: return held("waiting for the network", progress)
        case .connecting: return progress.attempt > 1 ? "connecting, attempt \(progress.attempt)" : "connecting"
        case .resuming: return "resuming"
        case .receiving: return pace(progress.bytesPerSecond, progress.timeLeft)
        case .pausing: return held("trying again in \((progress.pause ?? .zero).onTheClock)", progress)
        case .verifying: return "checking"
        case .finished, .failed: return ""
        }
    }

    private static func held(_ doing: String, _ progress: DownloadProgress) -> String {
        // A limit of years is no limit.
        let left = progress.remaining.flatMap { $0 < .seconds(3_000_000) ? ", for \($0.onTheClock) at most" : nil }
        return doing + (left ?? "") + (progress.trouble.map { ": \($0.replacing("\n", with: " "))" } ?? "")
    }

    private static func pace(_ bytesPerSecond: Double, _ left: Duration?) -> String {
        let bytes = Int(min(max(0, bytesPerSecond), 1e18))
        return "\(ByteCount(bytes))/s" + (left.map { "  \($0.onTheClock) left" } ?? "")
    }

    private static func amount(_ received: Int64, of total: Int64?) -> String {
        "\(ByteCount(Int(received)))" + (total.map { " of \(ByteCount(Int($0)))" } ?? "")
    }
}

extension DownloadProgress {
    /// Whether nothing happens until something outside changes, or time has passed.
    var isHeldUp: Bool {
        switch phase {
        case .waitingForNetwork, .pausing: true
        case .preparing, .connecting, .resuming, .receiving, .verifying, .finished, .failed: false
        }
    }
}
