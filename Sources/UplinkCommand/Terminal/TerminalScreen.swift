// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The terminal as a surface: draws one frame over another.
struct TerminalScreen {
    private let output = Output.standard
    private var drawn: Frame?
    private var drawnSize: TerminalSize?
    private var drawnEntry = 0

    /// The terminal's current size.
    var size: TerminalSize { TerminalSize(of: output.descriptor) }

    /// Whether colours and weights are wanted.
    var hasStyles: Bool { output.hasStyles }

    /// Draws a frame, unless it is there already.
    mutating func draw(_ frame: Frame) {
        guard let sequence = sequence(for: frame) else { return }
        try? TerminalMode.draw(sequence)  // a terminal that has gone ends the program with SIGHUP
    }

    /// The sequence that draws a frame over what is there; nil when the frame is there already.
    mutating func sequence(for frame: Frame) -> String? {
        let (size, entry) = (size, TerminalMode.entries)
        let isThere = size == drawnSize && entry == drawnEntry
        guard frame != drawn || !isThere else { return nil }
        defer { (drawn, drawnSize, drawnEntry) = (frame, size, entry) }
        // A picture is large, and drawing it again flickers.
        if frame.picture != nil, frame.picture == drawn?.picture, isThere {
            return frame.sequence(besidePictureIn: size, withStyles: hasStyles)
        }
        var sequence = ""
        if drawn?.picture != nil || frame.picture != nil {
            // Kitty keeps pictures separate from the text, so they are deleted separately. Sixels are deleted with
            // their cells.
            let isKitty = [drawn?.picture, frame.picture].contains { $0?.sequence.contains("\u{1B}_G") ?? false }
            sequence += (isKitty ? "\u{1B}_Ga=d\u{1B}\\" : "") + "\u{1B}[2J"
        }
        return sequence + frame.sequence(in: size, withStyles: hasStyles)
    }
}
