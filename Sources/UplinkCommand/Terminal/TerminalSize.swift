// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The size of a terminal in character cells, and of a cell in pixels.
struct TerminalSize: Sendable, Hashable {
    var columns = 80
    var rows = 24
    var cellWidth = 10
    var cellHeight = 20

    /// More than the largest screens have.
    private static let largest = (columns: 2000, rows: 1000)
    private static let largestCell = (width: 100, height: 200)

    /// Creates a size, by default the one to assume if nothing better is known.
    init(columns: Int = 80, rows: Int = 24) { (self.columns, self.rows) = (columns, rows) }

    /// The size of the terminal behind a descriptor; what it does not report is assumed (`ioctl_tty(2)`).
    init(of descriptor: CInt) {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else { return }
        // Anyone can set any size (ssh, stty), and what is drawn takes memory for it.
        (columns, rows) = (min(Int(window.ws_col), Self.largest.columns), min(Int(window.ws_row), Self.largest.rows))
        if window.ws_xpixel >= window.ws_col, window.ws_ypixel >= window.ws_row {
            let cell = (width: Int(window.ws_xpixel / window.ws_col), height: Int(window.ws_ypixel / window.ws_row))
            if cell.width <= Self.largestCell.width, cell.height <= Self.largestCell.height {
                (cellWidth, cellHeight) = cell
            }
        }
    }
}
