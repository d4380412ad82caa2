// SPDX-License-Identifier: Apache-2.0

/// Receives the pieces of a request's body; a call returns when there is room for more.
package struct BodySink: Sendable {
    private let take: @Sendable (HTTPBody.Chunk) async throws -> Void
    /// Whether nobody wants any more pieces. May be called from any thread.
    let isClosed: @Sendable () -> Bool

    package init(
        isClosed: @escaping @Sendable () -> Bool = { false },
        _ take: @escaping @Sendable (HTTPBody.Chunk) async throws -> Void
    ) { (self.isClosed, self.take) = (isClosed, take) }

    /// - Throws: What ends the production. An empty piece is nothing to take, but a producer that has nothing else must
    ///   not go on when it is cancelled.
    package func callAsFunction(_ chunk: HTTPBody.Chunk) async throws {
        if chunk.count > 0 { try await take(chunk) } else { try Task.checkCancellation() }
    }

    /// Sends bytes, in pieces that are small enough to wait one after another.
    func bytes(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { try Task.checkCancellation() }
        for start in stride(from: 0, to: bytes.count, by: SlabPool.slabSize) {
            let end = min(start + SlabPool.slabSize, bytes.count)
            try await take(HTTPBody.Chunk(bytes[start..<end]))
        }
    }
}

/// One transmission of a body: its length, and what produces it.
package struct BodyProduction: Sendable {
    /// How many bytes there will be.
    package let length: Int64?
    /// Whether it runs foreign code, which may take its time and does not belong on a loop's thread.
    package let runsForeignCode: Bool
    /// Produces the pieces, each after the sink had room for the previous one. Called again for every transmission.
    package let run: @Sendable (BodySink) async throws -> Void
}
