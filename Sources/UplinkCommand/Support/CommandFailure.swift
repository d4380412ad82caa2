// SPDX-License-Identifier: Apache-2.0

/// What keeps a command from doing its work, in one line that says what to do.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A message of the library in one line, with this program's options in place of the library's.
    static func inOptions(_ message: String) -> String {
        let words = [
            ("\n", " "), ("`maximumSize`", "--max-filesize"),
            (
                "give `expectedSize` or a checksum, or set `acceptsUnframedBodies`",
                "give --checksum, or fetch to the standard output"
            ),
            (
                "let the monitor poll (whenUnavailable), which takes no mark, uid or outputInterface",
                "poll, with --poll of `watch`, `wait` and `run`"
            ),
        ]
        return words.reduce(message) { $0.replacing($1.0, with: $1.1) }
    }
}
