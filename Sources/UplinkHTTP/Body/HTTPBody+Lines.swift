// SPDX-License-Identifier: Apache-2.0

extension HTTPBody {
    /// Returns the body as lines of text, as they arrive.
    ///
    /// A line ends with LF or CR LF, which are not part of it; a CR alone is an ordinary character. The last line needs
    /// no line end. Nothing is dropped: empty lines count, and a byte order mark is kept.
    ///
    /// - Parameters:
    ///   - maximumLength: The most bytes of a line. A longer one throws ``HTTPClientError/Code/lineTooLong``; no more
    ///     than this and one chunk is held in memory.
    ///   - repairingInvalidUTF8: Whether invalid UTF-8 is replaced by U+FFFD; otherwise it throws
    ///     ``HTTPClientError/Code/invalidText``.
    public func lines(maximumLength: Int = 1 << 20, repairingInvalidUTF8: Bool = false) -> Lines {
        Lines(body: self, splitter: LineSplitter(maximumLength: maximumLength, repairsText: repairingInvalidUTF8))
    }

    /// The lines of a body; like the body, they can be read once.
    public struct Lines: AsyncSequence, Sendable {
        /// A line without its line end.
        public typealias Element = String

        let body: HTTPBody
        let splitter: LineSplitter

        /// Makes the body's only iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), splitter: splitter) }

        /// Reads the body, line by line.
        public struct Iterator: AsyncIteratorProtocol {
            var chunks: HTTPBody.Iterator
            var splitter: LineSplitter

            /// Returns the next line, or nil at the end.
            ///
            /// - Throws: ``HTTPClientError``, or the same errors as the body's iterator. Lines before the error are not
            ///   lost.
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
