// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// An output that on a terminal has a last line that changes; elsewhere there are only lines that stay.
final class StatusLine: Sendable {
    /// Whether the line that changes is shown.
    let isShown: Bool
    private let output: Output
    private let isDrawn = Locked(false)

    init(on output: Output, isWanted: Bool = true) {
        self.output = output
        isShown = isWanted && output.isTerminal
    }

    /// How wide the terminal is.
    var columns: Int { TerminalSize(of: output.descriptor).columns }

    /// Draws the line again.
    func draw(_ text: Text) {
        guard isShown else { return }
        isDrawn.withLock { isDrawn in
            isDrawn = true
            write("\r\(rendered(text))\u{1B}[K")
        }
    }

    /// Writes a line that stays, above the one that changes.
    func say(_ text: Text) {
        isDrawn.withLock { isDrawn in
            write((isDrawn ? "\r\u{1B}[K" : "") + rendered(text) + "\n")
            isDrawn = false
        }
    }

    /// Leaves the line as it is.
    func end() {
        isDrawn.withLock { isDrawn in
            if isDrawn { write("\n") }
            isDrawn = false
        }
    }

    private func rendered(_ text: Text) -> String { text.rendered(withStyles: output.hasStyles) }
    private func write(_ text: String) { try? output.write(text) }  // reports are a courtesy
}
