// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The size of a terminal in character cells, and of a cell in pixels.
struct TerminalSize: Sendable, Hashable {
    var columns = 80
    var rows = 24
    var cellWidth = 10
    var cellHeight = 20

    /// Creates a size, by default the one to assume if nothing better is known.
    init(columns: Int = 80, rows: Int = 24) { (self.columns, self.rows) = (columns, rows) }

    /// The size of the terminal behind a descriptor; what it does not report is assumed (`ioctl_tty(2)`).
    init(of descriptor: CInt) {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else { return }
        (columns, rows) = (Int(window.ws_col), Int(window.ws_row))
        if window.ws_xpixel >= window.ws_col, window.ws_ypixel >= window.ws_row {
            (cellWidth, cellHeight) = (Int(window.ws_xpixel) / columns, Int(window.ws_ypixel) / rows)
        }
    }
}
