// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Why a command could not do its work, in one line that says what to do.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// An error that a command threw, as one line without control characters, because a message may quote a server.
    ///
    /// Errors for ArgumentParser stay as they are.
    static func printable(_ error: any Error) -> any Error {
        if error is ExitCode || error is ValidationError || error is CleanExit { return error }
        let message = "\(error)"
        let shown = Text.oneLine(inOptions(message)).plain
        return shown == message ? error : CommandFailure(shown)
    }

    /// A message of the library in one line, with this program's options instead of the library's.
    static func inOptions(_ message: String) -> String {
        let words = [
            ("\n", " "), ("`maximumSize`", "--max-filesize"), ("check `trust`", "check --cacert"),
            ("; if the server needs no internet, set `requirement`", ""),
            ("or ask for it to be replaced", "or --force to replace it"),
            ("see `trust`", "see --cacert"), ("check `identity`", "check --cert and --key"),
            ("see `identity`", "see --cert"),
            ("send an `Authorization` field instead", "give --user instead, where the command has it"),
            (
                "give `expectedSize` or a checksum, or set `acceptsUnframedBodies`",
                "give --checksum, or fetch to the standard output"
            ),
            (
                "and `requiresFramedBodies` is set; ask the server to send Content-Length or chunks, or allow unframed "
                    + "bodies", "so a file could be cut off unnoticed; fetch to the standard output"
            ),
            ("if that is meant, raise `compressionRatio`", "if that is meant, give -H 'Accept-Encoding: identity'"),
            ("; raise `headerFields`", ", which are too many"), ("; raise `headerBytes`", ", which is too much"),
            ("; raise `interimResponses`", ", which are too many"), (", or raise `backOff.maximumRetryAfter`", ""),
            (
                "let the monitor poll (whenUnavailable), which takes no mark, uid or outputInterface",
                "poll, with --poll of `watch`, `wait` and `run`"
            ),
        ]
        return words.reduce(message) { $0.replacing($1.0, with: $1.1) }
    }
}
