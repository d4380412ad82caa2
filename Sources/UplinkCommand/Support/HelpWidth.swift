// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The width of help texts, which ArgumentParser takes from `COLUMNS`, or else from the terminal. Where its own columns
/// find no room, it shows help without explanations, and a debug build of it traps.
enum HelpWidth {
    private static let least = 40

    /// Makes it wide enough, or the default if `COLUMNS` is no number of columns. Called while there is one thread.
    static func ensure() {
        var columns = getenv("COLUMNS").map { Int(String(cString: $0)) ?? 0 }
        if let given = columns, given <= 0 {
            unsetenv("COLUMNS")
            columns = nil
        }
        let width = columns ?? terminalWidth
        if width > 0, width < least { setenv("COLUMNS", "\(least)", 1) }
    }

    private static var terminalWidth: Int {
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
    }
}
