// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// What a request carries: bytes, a file, pieces as somebody makes them, or a form.
///
/// Any method but HEAD and TRACE may have one; what a server makes of a GET's is its own affair (RFC 9110, section
/// 9.3.1). A body whose length is known is sent with `Content-Length`, any other in chunks (RFC 9112, section 7.1).
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

    /// The `Content-Type` that is sent where the request's fields name none; nil sends none.
    public var contentType: String?

    /// Whether the body waits until the server has said 100 (Continue), or one second at most
    /// (RFC 9110, section 10.1.1): for a large body that the server may not want.
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

    /// A text in UTF-8, as `text/plain`.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> Self {
        Self(.bytes(Array(text.utf8)), contentType: contentType)
    }

    /// A JSON document in UTF-8 (RFC 8259), which is not looked at, as `application/json`.
    public static func json(_ document: [UInt8]) -> Self { Self(.bytes(document), contentType: "application/json") }

    /// A regular file, which is read a little ahead of what is sent, never on an event loop's thread.
    ///
    /// Its size is announced. A file that shrinks or grows meanwhile fails the request with
    /// ``HTTPClientError/Code/bodyLengthMismatch``, one that cannot be read with ``HTTPClientError/Code/fileFailed``.
    public static func file(_ path: FilePath, contentType: String? = nil) -> Self {
        Self(.stream(.file(path)), contentType: contentType)
    }

    /// The pieces of a sequence, which is asked for the next one when there is room for it.
    ///
    /// The sequence is iterated on the default executor by a task that is cancelled when the request ends early. An
    /// error that it throws is the request's error, unchanged.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, in order; empty pieces are skipped.
    ///   - length: How many bytes there are. More or fewer than that fail the request with
    ///     ``HTTPClientError/Code/bodyLengthMismatch``, and the server never sees a body that looks whole. Nil sends
    ///     the body in chunks.
    ///   - isReplayable: Whether the sequence can be iterated again and gives the same bytes then.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, length: Int64? = nil, isReplayable: Bool = false
    ) -> Self where Pieces.Element == [UInt8] {
        Self(
            .stream(
                .foreign(length: length, isReplayable: isReplayable) { send in
                    for try await piece in pieces { try await send.bytes(piece) }
                }))
    }

    /// The chunks of a sequence, such as those of another answer's ``HTTPBody``; otherwise as the one of bytes.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, isReplayable: Bool = false
    ) -> Self where Chunks.Element == HTTPBody.Chunk {
        Self(
            .stream(
                .foreign(length: length, isReplayable: isReplayable) { send in
                    for try await chunk in chunks { try await send(chunk) }
                }))
    }

    /// Its length, where that is known beforehand; a file's is looked up when it is sent.
    public var length: Int64? {
        switch content {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether it can be sent a second time, after a redirect or a failed attempt.
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

    /// Whether it has been sent, at least in part, and cannot be sent again.
    package var isSpent: Bool {
        switch content {
        case .none, .bytes: false
        case .stream(let stream): stream.isSpent()
        }
    }
}
