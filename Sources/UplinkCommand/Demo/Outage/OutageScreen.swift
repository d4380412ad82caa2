// SPDX-License-Identifier: Apache-2.0
import Uplink
import UplinkCore

/// The screen of `uplink demo --outage`: what is done to the download, what the download does about it, and its bar.
final class OutageScreen: Sendable {
    private let line = StatusLine(on: .standard)
    private let start = ContinuousClock.now
    private let story = Locked(OutageStory())

    init(_ script: OutageScript) {
        line.say(
            Text {
                "\(ByteCount(script.byteCount)) from a server that gives \(ByteCount(OutageScript.pace)) a second, "
                "over a network of its own."
            })
    }

    /// Prints what is done to the download.
    func say(_ words: String) { line.say(time + Text(words).bold()) }

    /// Prints what the download does about it.
    func note(_ progress: DownloadProgress) {
        guard let words = story.withLock({ $0.take(progress) }) else { return }
        line.say(time + Text("  \(words)").color(progress.isHeldUp ? .yellow : .green))
    }

    /// Draws the bar.
    func draw(_ progress: DownloadProgress) { line.draw(DownloadLine.text(progress, columns: line.columns)) }

    /// Ends the bar's line, if there is one.
    func endLine() { line.end() }

    /// Prints how it ended.
    ///
    /// - Throws: ``CommandFailure`` when the file is not the server's.
    func end(_ file: DownloadedFile, expecting expected: [UInt8]) throws {
        guard let digest = file.checksum, digest == expected, file.restarts == 0 else {
            throw CommandFailure("the download has not come as it should: \(file)")
        }
        line.end()
        let history = DownloadReport.history(resumptions: file.resumptions, restarts: 0)
        line.say(
            Text("✔").color(.green).bold()
                + Text(" \(ByteCount(Int(file.byteCount))) in \((.now - start).taken)\(history), never begun anew"))
        line.say(Text("✔").color(.green).bold() + Text(" sha256 \(Hexadecimal.text(digest))"))
        line.say(Text("  as it should be: every byte is the server's").dim())
    }

    private var time: Text {
        let text = (ContinuousClock.now - start).inTenths
        return Text(String(repeating: " ", count: max(0, 7 - text.count)) + text + "  ").dim()
    }
}

/// Chooses which of a download's many states are worth a line: that it is held up, and that it goes on.
struct OutageStory: Sendable {
    private var isHeldUp = false

    /// The line for a state, if it is worth one.
    mutating func take(_ progress: DownloadProgress) -> String? {
        switch progress.phase {
        case .waitingForNetwork, .pausing:
            guard !isHeldUp, progress.receivedBytes > 0 else { return nil }
            isHeldUp = true
            let amount = ByteCount(Int(progress.receivedBytes))
            return progress.phase == .pausing
                ? "\(amount) are there; it tries again until the server answers"
                : "\(amount) are there; it waits for the network"
        case .receiving:
            guard isHeldUp else { return nil }
            isHeldUp = false
            return "it goes on from \(ByteCount(Int(progress.receivedBytes)))"
        case .preparing, .connecting, .resuming, .verifying, .finished, .failed: return nil
        }
    }
}
