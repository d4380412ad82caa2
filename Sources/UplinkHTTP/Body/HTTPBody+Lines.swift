// SPDX-License-Identifier: Apache-2.0

extension HTTPBody {
    /// The body as lines of text, while it arrives.
    ///
    /// A line ends with LF or CR LF, which are not part of it; a CR alone is a character like any other. The last line
    /// needs no end. Nothing is dropped: empty lines count, and so does a byte order mark.
    ///
    /// - Parameters:
    ///   - maximumLength: The most bytes of a line. A longer one throws ``HTTPClientError/Code/lineTooLong``, and no
    ///     more than this and one chunk is held.
    ///   - repairingInvalidUTF8: Puts U+FFFD in the place of what is not UTF-8; without it that throws
    ///     ``HTTPClientError/Code/invalidText``.
    public func lines(maximumLength: Int = 1 << 20, repairingInvalidUTF8: Bool = false) -> Lines {
        Lines(body: self, splitter: LineSplitter(maximumLength: maximumLength, repairsText: repairingInvalidUTF8))
    }

    /// Lines of text; read once, as the body.
    public struct Lines: AsyncSequence, Sendable {
        /// A line without its end.
        public typealias Element = String

        let body: HTTPBody
        let splitter: LineSplitter

        /// The one iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), splitter: splitter) }

        /// Reads the body, line by line.
        public struct Iterator: AsyncIteratorProtocol {
            var chunks: HTTPBody.Iterator
            var splitter: LineSplitter

            /// The next line, or nil at the end.
            ///
            /// - Throws: ``HTTPClientError``, or as the body's iterator does. Lines that came before are not lost.
            public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> String? {
                while true {
                    if let line = try splitter.next() { return line }
                    guard let chunk = try await chunks.next(isolation: actor) else { return try splitter.finish() }
                    chunk.withUnsafeBytes { splitter.append($0) }
                }
            }
        }
    }
}
