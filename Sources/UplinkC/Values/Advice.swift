// SPDX-License-Identifier: Apache-2.0

/// Messages of the library in the words of the header: what they advise in Swift has other names in C, or is not there.
enum Advice {
    private static let words = [
        ("raise the maximum, or write it to a file", "raise `limit`, or take it piece by piece"),
        ("raise `headerFields`", "this library takes no more"),
        ("raise `headerBytes`", "this library takes no more"),
        ("raise `interimResponses`", "this library takes no more"),
        ("raise `maximumSize`", "raise `maximum_size`"),
        (", or raise `maximumQueuedTransfers`", ""),
        (
            "give `expectedSize` or a checksum, or set `acceptsUnframedBodies`",
            "give `expected_size` or `sha256`, or set `accepts_unframed`"
        ),
        ("or ask for it to be replaced", "or set `replace_existing`"),
        ("check `trust`", "check `ca_file`"), ("see `trust`", "see `ca_file`"),
        (
            "make a new one, or say `isReplayable` if its sequence can be iterated again",
            "set `can_rewind` if its callback can begin anew"
        ),
        ("give a body that is replayable", "set `can_rewind` if its callback can begin anew"),
        ("see `identity`", "this library has none"),
        (" (gzip and deflate can, with the package's trait `Compression`)", ""),
        ("give its bytes as a sequence", "give its bytes with uplink_request_set_body_source()"),
        (", or raise `backOff.maximumRetryAfter`", ""),
        ("; iterate over `paths` again to start anew", ""),
        ("; or let the monitor poll (whenUnavailable), which takes no mark, uid or outputInterface", ""),
    ].map { (old: Array($0.0.utf8), new: Array($0.1.utf8)) }

    /// The message as a C program can follow it.
    static func inC(_ message: String) -> String {
        let message = words.reduce(Array(message.utf8)) { replace($1.old, with: $1.new, in: $0) }
        return String(decoding: message, as: UTF8.self)
    }

    private static func replace(_ old: [UInt8], with new: [UInt8], in text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let first = rest.first {
            if rest.starts(with: old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
