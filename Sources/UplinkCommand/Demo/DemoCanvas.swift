// SPDX-License-Identifier: Apache-2.0

/// Draws the demo's screens on the terminal.
struct DemoCanvas {
    private(set) var screen = DemoScreen.loading(saysNoNetwork: false)
    private let source: String
    private var frame = 0
    private var terminal = TerminalScreen()

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

    /// Draws the screen at the terminal's current size.
    mutating func redraw() {
        let picture = picture(above: 5)
        let text = Text {
            screen.text(source: source, frame: frame)
            Text.lineBreak
            Text.lineBreak
            screen.keys
        }
        let lines = text.wrapped(toColumns: terminal.size.columns)
        terminal.draw(
            Frame(
                lines: Array(repeating: Text(), count: picture.map { $0.rows + 1 } ?? 0) + lines,
                picture: picture.map { .init(sequence: $0.sequence, rows: 0..<$0.rows) }))
    }

    /// Leaves the result on the main screen, so that it is still visible after the end.
    func leaveResult() throws {
        guard !screen.isLoading else { return }
        let picture = picture(above: 5).map { $0.sequence + "\r\n" } ?? ""
        let text = screen.text(source: source, frame: frame).rendered(withStyles: Output.standard.hasStyles)
        try Output.standard.write(picture + text + "\n")
    }

    /// The picture, with room left for this many lines below it.
    private func picture(above lines: Int) -> (sequence: String, rows: Int)? {
        #if Pictures
        guard case .picture(let result) = screen else { return nil }
        var room = terminal.size
        room.rows -= lines
        return PictureDrawing.draw(result.picture, in: room, withColors: terminal.hasStyles)
            .map { ($0.sequence, $0.rows) }
        #else
        return nil
        #endif
    }
}
