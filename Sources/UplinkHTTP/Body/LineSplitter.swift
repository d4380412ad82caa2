// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finds the lines in a body's bytes, however they are split into chunks: pure.
package struct LineSplitter: Sendable {
    /// The most bytes of a line, without its line end.
    let maximumLength: Int
    /// Whether invalid UTF-8 is replaced by U+FFFD.
    let repairsText: Bool
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Where the search for its end continues.
    private var searched = 0

    package init(maximumLength: Int, repairsText: Bool) {
        self.maximumLength = maximumLength
        self.repairsText = repairsText
    }

    /// Adds bytes. Take all lines first, so that no more than one line and these bytes are held.
    package mutating func append(_ new: UnsafeRawBufferPointer) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes.append(contentsOf: new)
    }

    /// Returns the next line that has a line end, without it.
    package mutating func next() throws(HTTPClientError) -> String? {
        guard let end = lineFeed() else {
            searched = bytes.count
            // One more byte may be the CR of the line end.
            guard bytes.count - start - 1 <= maximumLength else { throw tooLong }
            return nil
        }
        defer {
            start = end + 1
            searched = start
        }
        return try text(bytes[start..<end].last == 13 ? end - 1 : end)
    }

    /// The body is over. Returns its last line, if that has no line end.
    package mutating func finish() throws(HTTPClientError) -> String? {
        guard start < bytes.count else { return nil }
        defer {
            bytes = []
            (start, searched) = (0, 0)
        }
        return try text(bytes.count)
    }

    private func lineFeed() -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, searched < bytes.count,
                let found = memchr(base + searched, 10, bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func text(_ end: Int) throws(HTTPClientError) -> String {
        let line = bytes[start..<end]
        guard line.count <= maximumLength else { throw tooLong }
        if repairsText { return String(decoding: line, as: UTF8.self) }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw HTTPClientError(
                .invalidText, phase: .body, requestDisposition: .responseStarted,
                message: "a line of the body is not UTF-8; read it as bytes, or with `repairingInvalidUTF8`")
        }
        return text
    }

    private var tooLong: HTTPClientError {
        HTTPClientError(
            .lineTooLong, phase: .body, requestDisposition: .responseStarted,
            message: "a line of the body is longer than the \(maximumLength) bytes allowed; raise `maximumLength`")
    }
}
