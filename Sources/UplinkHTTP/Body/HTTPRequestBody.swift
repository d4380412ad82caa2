// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// The body of a request: bytes, a file, a sequence of pieces, or a form.
///
/// Any method but HEAD and TRACE may have one; it is up to the server what to do with the body of a GET (RFC 9110,
/// section 9.3.1). A body of known length is sent with `Content-Length`, any other in chunks (RFC 9112, section 7.1).
public struct HTTPRequestBody: Sendable {
    package enum Content: Sendable {
        /// No body at all.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// Bytes that are produced while they are sent.
        case stream(BodyStream)
    }

    package let content: Content

    /// The `Content-Type` to send if the request's fields have none; nil sends none.
    public var contentType: String?

    /// Whether the body waits for the server's 100 (Continue), for one second at most (RFC 9110, section 10.1.1). For a
    /// large body that the server may not want.
    public var expectsContinue = false

    init(_ content: Content, contentType: String? = nil) {
        self.content = content
        self.contentType = contentType
    }

    /// No body.
    public static let none = Self(.none)

    /// These bytes.
    public static func bytes(_ bytes: [UInt8], contentType: String? = nil) -> Self {
        Self(.bytes(bytes), contentType: contentType)
    }

    /// A text in UTF-8, as `text/plain` by default.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> Self {
        Self(.bytes(Array(text.utf8)), contentType: contentType)
    }

    /// A JSON document in UTF-8 (RFC 8259), sent unchecked as `application/json`.
    public static func json(_ document: [UInt8]) -> Self { Self(.bytes(document), contentType: "application/json") }

    /// A regular file, which is read slightly ahead of sending, never on an event loop's thread.
    ///
    /// A relative path is looked up from the working directory of this moment, whatever that is when the file is sent.
    /// Its size is announced. If the file shrinks or grows meanwhile, the request fails with
    /// ``HTTPClientError/Code/bodyLengthMismatch``; if it cannot be read, with ``HTTPClientError/Code/fileFailed``.
    public static func file(_ path: FilePath, contentType: String? = nil) -> Self {
        Self(.stream(.file(path.absolute)), contentType: contentType)
    }

    /// The pieces of a sequence, which is asked for the next one when there is room for it.
    ///
    /// The sequence is iterated on the default executor, by a task that is cancelled when the request ends early. An
    /// error that it throws becomes the request's error, unchanged.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, in order; empty pieces are skipped.
    ///   - length: The number of bytes. If there are more or fewer, the request fails with
    ///     ``HTTPClientError/Code/bodyLengthMismatch``, and the server never sees a body that looks complete. Nil sends
    ///     the body in chunks. With zero, the sequence is iterated before the request is sent, outside its timeouts and
    ///     by the calling task.
    ///   - isReplayable: Whether the sequence can be iterated again and then gives the same bytes. When a request is
    ///     repeated, the first iteration has ended before the next one begins; one that ignores cancellation delays it.
    ///     Requests that run side by side iterate at the same time.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, length: Int64? = nil, isReplayable: Bool = false
    ) -> Self where Pieces.Element == [UInt8] {
        Self(
            .stream(
                .pieces(length: length, isReplayable: isReplayable) { send in
                    for try await piece in pieces { try await send.bytes(piece) }
                }))
    }

    /// The same for a sequence of our own, which may be iterated on an event loop.
    package static func ownStream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, length: Int64?, isReplayable: Bool
    ) -> Self where Pieces.Element == [UInt8] {
        Self(
            .stream(
                .pieces(length: length, isReplayable: isReplayable, isOwn: true) { send in
                    for try await piece in pieces { try await send.bytes(piece) }
                }))
    }

    /// The chunks of a sequence, such as the ``HTTPBody`` of another response; otherwise the same as the form for
    /// bytes.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, isReplayable: Bool = false
    ) -> Self where Chunks.Element == HTTPBody.Chunk {
        Self(
            .stream(
                .pieces(length: length, isReplayable: isReplayable) { send in
                    for try await chunk in chunks { try await send(chunk) }
                }))
    }

    /// The length, if it is known beforehand; a file's length is looked up when it is sent.
    public var length: Int64? {
        switch content {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether the body can be sent again, after a redirect or a failed attempt.
    public var isReplayable: Bool {
        switch content {
        case .none, .bytes: true
        case .stream(let stream): stream.isReplayable
        }
    }

    /// Whether there is nothing to send.
    package var isNone: Bool {
        switch content {
        case .none: true
        case .bytes, .stream: false
        }
    }

    /// Whether the body has been sent, at least in part, and cannot be sent again.
    package var isSpent: Bool {
        switch content {
        case .none, .bytes: false
        case .stream(let stream): stream.isSpent()
        }
    }
}
