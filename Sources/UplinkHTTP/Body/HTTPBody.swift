// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A response body that is read as it arrives, chunk by chunk.
///
/// It can be read once: with a `for try await` loop, with ``collect(upTo:within:)`` or with
/// ``write(to:replacingExisting:permissions:progress:)``. While nobody reads, no more than ``HTTPLimits/bufferedBytes``
/// is held and the server has to wait. Dropping the body, or its iterator before the end, ends the transfer.
public struct HTTPBody: AsyncSequence, Sendable {
    /// How a body's end is known (RFC 9112, section 6.3).
    public enum Framing: Sendable, Hashable {
        /// There is no body: a response to HEAD, 204 or 304.
        case none
        /// Announced by `Content-Length`; a shorter body is an error.
        case length(Int64)
        /// Chunked; a missing last chunk is an error.
        case chunked
        /// Ended by the connection's end. Nobody can tell whether the body is complete.
        case untilClose
    }

    /// How the body's end is known.
    public var framing: Framing { handle.framing }
    /// The value of `Content-Length`, for HEAD too.
    public var contentLength: Int64? { handle.contentLength }
    let handle: BodyHandle

    package init(framing: Framing, contentLength: Int64?, source: any HTTPBodySource) {
        handle = BodyHandle(framing: framing, contentLength: contentLength, source: source)
    }

    /// Makes a body from bytes in memory; for custom transports.
    public init(_ bytes: [UInt8]) {
        self.init(
            framing: .length(Int64(bytes.count)), contentLength: Int64(bytes.count),
            source: KeptBody(Chunk(bytes), trailerFields: nil))
    }

    /// Makes a body that is pulled piece by piece; for custom transports.
    ///
    /// A reader's time limit, as in ``collect(upTo:within:)``, does not apply to it: `next` has to keep time itself.
    /// For the same reason the client drops such a body, instead of reading it, where it does not want it (redirects,
    /// refused tokens, retries).
    ///
    /// - Parameters:
    ///   - contentLength: The length that the head announces. It is not checked against what arrives.
    ///   - next: Returns the next piece, or nil at the end. Called by the reader's task, one call at a time.
    public init(contentLength: Int64? = nil, pulling next: @escaping @Sendable () async throws -> [UInt8]?) {
        self.init(
            framing: contentLength.map { .length($0) } ?? .chunked, contentLength: contentLength,
            source: PulledSource(next: next))
    }

    /// The trailer fields, available once the body has been read to its end (RFC 9110, section 6.5).
    public var trailerFields: HTTPFields? { handle.source.trailerFields }

    /// Makes the body's only iterator. A second one throws ``HTTPClientError/Code/bodyAlreadyUsed`` when it is asked
    /// for a chunk.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: handle.reader()) }

    /// Returns the iterator, for functions that do more with the body than ask for chunks: a body that somebody else
    /// reads is left alone.
    func unusedIterator() throws(HTTPClientError) -> Iterator {
        let iterator = makeAsyncIterator()
        guard iterator.reader != nil else { throw Self.alreadyUsed }
        return iterator
    }

    static let alreadyUsed = HTTPClientError(
        .bodyAlreadyUsed, phase: .body, requestDisposition: .responseStarted,
        message: "the body has been read, or is being read; it is read once, so keep what it gave")

    /// Reads the body, chunk by chunk.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: BodyReader?

        /// Returns the next chunk, or nil at the end.
        ///
        /// - Throws: ``HTTPClientError``, or `CancellationError` when the task is cancelled, or when the client's
        ///   transport is shut down and cancels what is under way; by then the transfer is gone completely. While the
        ///   request's body is still being sent, also the error of the sequence that it iterates.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Chunk? {
            guard let reader else { throw HTTPBody.alreadyUsed }
            return try await reader.source.next()
        }
    }
}
