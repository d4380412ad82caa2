// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import Synchronization

/// A body as it arrives, chunk by chunk.
///
/// It is read once: by a `for try await` loop, by ``collect(upTo:within:)`` or by
/// ``write(to:replacingExisting:progress:)``. While nobody reads, no more than
/// ``HTTPLimits/bufferedBytes`` is held and the server has to wait. Dropping the body, or the iterator before the end,
/// ends the transfer.
public struct HTTPBody: AsyncSequence, Sendable {
    /// How a body's end is known (RFC 9112, section 6.3).
    public enum Framing: Sendable, Hashable {
        /// There is no body: HEAD, 204, 304.
        case none
        /// `Content-Length` announced it; a shorter body is an error.
        case length(Int64)
        /// Chunks; a missing last chunk is an error.
        case chunked
        /// The end of the connection. Nobody can tell whether the body is whole.
        case untilClose
    }

    /// How the body's end is known.
    public var framing: Framing { handle.framing }
    /// What `Content-Length` says, for HEAD too.
    public var contentLength: Int64? { handle.contentLength }
    let handle: BodyHandle

    package init(framing: Framing, contentLength: Int64?, source: any HTTPBodySource) {
        handle = BodyHandle(framing: framing, contentLength: contentLength, source: source)
    }

    /// A body that is there already; for transports of one's own.
    public init(_ bytes: [UInt8]) {
        self.init(
            framing: .length(Int64(bytes.count)), contentLength: Int64(bytes.count),
            source: PulledSource(bytes: bytes))
    }

    /// A body that is asked for piece by piece; for transports of one's own.
    ///
    /// A time limit of its reader, as in ``collect(upTo:within:)``, does not reach it: `next` has to keep time itself.
    ///
    /// - Parameters:
    ///   - contentLength: What the head announces. It is not compared with what comes.
    ///   - next: Gives the next piece, or nil at the end. Called by the reader's task, never twice at once.
    public init(contentLength: Int64? = nil, pulling next: @escaping @Sendable () async throws -> [UInt8]?) {
        self.init(
            framing: contentLength.map { .length($0) } ?? .chunked, contentLength: contentLength,
            source: PulledSource(next: next))
    }

    /// The trailer fields, once the body has been read to its end (RFC 9110, section 6.5).
    public var trailerFields: HTTPFields? { handle.source.trailerFields }

    /// The body's one iterator. A second one throws ``HTTPClientError/Code/bodyAlreadyUsed`` when it is asked.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: handle.reader()) }

    /// The iterator, for those who do more with the body than to ask it: what somebody else reads is left alone.
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

        /// The next chunk, or nil at the end.
        ///
        /// - Throws: ``HTTPClientError``, or `CancellationError` when the task is cancelled; nothing of the transfer is
        ///   left then.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Chunk? {
            guard let reader else { throw HTTPBody.alreadyUsed }
            return try await reader.source.next()
        }
    }
}

/// What copies of a body share. Ends the transfer when the body is dropped and nobody has begun to read it.
final class BodyHandle: Sendable {
    let framing: HTTPBody.Framing
    let contentLength: Int64?
    let source: any HTTPBodySource
    private let isClaimed = Atomic(false)

    init(framing: HTTPBody.Framing, contentLength: Int64?, source: any HTTPBodySource) {
        (self.framing, self.contentLength, self.source) = (framing, contentLength, source)
    }

    deinit { if !isClaimed.load(ordering: .relaxed) { source.cancel() } }

    /// Takes the right to read, which is given once: whoever gets it ends the transfer.
    func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }

    /// The same, for a reader that ends the transfer by itself.
    func reader() -> BodyReader? { claim() ? BodyReader(source) : nil }
}

/// Ends the transfer when the iterator is dropped.
final class BodyReader: Sendable {
    let source: any HTTPBodySource

    init(_ source: any HTTPBodySource) { self.source = source }

    deinit { source.cancel() }
}
