// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Draws the demo's screens on the terminal.
struct DemoCanvas {
    private(set) var screen = DemoScreen.loading(saysNoNetwork: false)
    private let source: String
    private var frame = 0

    init(source: String) { self.source = source }

    mutating func show(_ next: DemoScreen) {
        screen = next
        redraw()
    }

    mutating func turnSpinner() {
        guard screen.isLoading else { return }
        frame += 1
        redraw()
    }

    /// Draws all anew, with the terminal's present size.
    func redraw() {
        let picture = picture(above: 5)
        var sequence = "\u{1B}[H"
        if let picture {
            // Kitty keeps pictures apart from the text: they are deleted on their own.
            if picture.sequence.contains("\u{1B}_G") { sequence += "\u{1B}_Ga=d\u{1B}\\" }
            sequence += "\u{1B}[J\(picture.sequence)\u{1B}[\(picture.rows + 2);1H"
        }
        let text = Text {
            screen.text(source: source, frame: frame)
            Text.lineBreak
            Text.lineBreak
            screen.keys
        }
        // Each line clears what stood behind it, then all below is cleared: nothing flickers.
        let lines = text.rendered(withStyles: Output.standard.hasStyles).split(
            separator: "\n", omittingEmptySubsequences: false)
        sequence += lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J"
        try? Output.standard.write(sequence)  // a terminal that has gone ends the program with SIGHUP
    }

    /// Leaves the result where the program was started, so that it is still seen after the end.
    func leaveResult() throws {
        guard !screen.isLoading else { return }
        let picture = picture(above: 5).map { $0.sequence + "\r\n" } ?? ""
        let text = screen.text(source: source, frame: frame).rendered(withStyles: Output.standard.hasStyles)
        try Output.standard.write(picture + text + "\n")
    }

    /// The picture, with room left for so many lines below it.
    private func picture(above lines: Int) -> (sequence: String, rows: Int)? {
        #if Pictures
        guard case .picture(let result) = screen else { return nil }
        var room = TerminalSize(of: STDOUT_FILENO)
        room.rows -= lines
        return PictureDrawing.draw(result.picture, in: room, withColors: Output.standard.hasStyles)
            .map { ($0.sequence, $0.rows) }
        #else
        return nil
        #endif
    }
}
