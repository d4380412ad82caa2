// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Where what may block (files) holds nobody up.
package protocol BlockingWork: Sendable {
    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result
}

/// Blocks whoever asks: for tests, and for transports without a loop.
struct InlineWork: BlockingWork {
    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try work()
    }
}

/// Takes the pieces of a request's body; returns when there is room for more.
package struct BodySink: Sendable {
    private let take: @Sendable (HTTPBody.Chunk) async throws -> Void

    package init(_ take: @escaping @Sendable (HTTPBody.Chunk) async throws -> Void) { self.take = take }

    package func callAsFunction(_ chunk: HTTPBody.Chunk) async throws { if chunk.count > 0 { try await take(chunk) } }

    /// Bytes, in pieces that are not too large to wait one after the other.
    func bytes(_ bytes: [UInt8]) async throws {
        for start in stride(from: 0, to: bytes.count, by: SlabPool.slabSize) {
            let end = min(start + SlabPool.slabSize, bytes.count)
            try await take(HTTPBody.Chunk(bytes[start..<end]))
        }
    }
}

/// A body that is produced while it is sent.
package struct BodyStream: Sendable {
    /// How many bytes there will be, where that is known without looking.
    let length: Int64?
    /// Whether it can be produced again.
    let isReplayable: Bool
    /// Whether it has been produced and cannot be produced again.
    let isSpent: @Sendable () -> Bool
    /// Looks up what has to be known before the head is sent.
    let prepare: @Sendable (any BlockingWork) async throws -> BodyProduction

    /// Pieces that somebody else makes.
    static func foreign(
        length: Int64?, isReplayable: Bool, _ run: @escaping @Sendable (BodySink) async throws -> Void
    ) -> Self {
        let hasRun = Locked(false)
        return Self(
            length: length, isReplayable: isReplayable, isSpent: { !isReplayable && hasRun.withLock { $0 } }
        ) { _ in
            BodyProduction(length: length, runsForeignCode: true) { sink in
                let isFirst = hasRun.withLock { hasRun in
                    defer { hasRun = true }
                    return !hasRun
                }
                guard isFirst || isReplayable else { throw notReplayable }
                try await run(sink)
            }
        }
    }

    /// The error of a body that is gone.
    static let notReplayable = HTTPClientError(
        .bodyNotReplayable, phase: .request, requestDisposition: .maybeProcessed,
        message: "the request's body has been sent and cannot be produced again; "
            + "make a new one, or say `isReplayable` if its sequence can be iterated again")
}

/// One sending of a body: its length, and what produces it.
package struct BodyProduction: Sendable {
    /// How many bytes there will be.
    package let length: Int64?
    /// Whether it runs code of others, which may take its time and does not belong on a loop's thread.
    package let runsForeignCode: Bool
    /// Produces the pieces, each after the sink had room for the one before. Called for every sending anew.
    package let run: @Sendable (BodySink) async throws -> Void
}

/// A body that is longer or shorter than it was said to be.
enum BodyLength {
    static func check(_ count: Int64, against length: Int64?) throws(HTTPClientError) {
        guard let length, count != length else { return }
        throw count > length ? exceeded(length) : missed(count, length)
    }

    static func exceeded(_ length: Int64) -> HTTPClientError {
        mismatch("the request's body is longer than the \(length) bytes announced")
    }

    static func missed(_ count: Int64, _ length: Int64) -> HTTPClientError {
        mismatch("the request's body ended after \(count) of the \(length) bytes announced")
    }

    static func mismatch(_ message: String) -> HTTPClientError {
        HTTPClientError(
            .bodyLengthMismatch, phase: .firstByte, requestDisposition: .maybeProcessed,
            message: "\(message); give the right length, or none")
    }
}

/// Gathers a body in memory.
final class BodyCollector: Sendable {
    private let maximum: Int
    private let state = Locked<[UInt8]>([])

    init(_ maximum: Int) { self.maximum = maximum }

    var bytes: [UInt8] { state.withLock { $0 } }

    func append(_ chunk: HTTPBody.Chunk) throws(HTTPClientError) {
        let fits = state.withLock { bytes in
            guard bytes.count + chunk.count <= maximum else { return false }
            chunk.withUnsafeBytes { bytes.append(contentsOf: $0) }
            return true
        }
        guard !fits else { return }
        throw HTTPClientError(
            .bodyTooLarge, phase: .request,
            message: "the request's body is larger than the \(maximum) bytes allowed; raise the maximum")
    }
}

/// Counts bytes; one task at a time, though perhaps not always the same.
final class ByteCounter: Sendable {
    private let count = Locked<Int64>(0)

    /// The sum with this.
    func add(_ more: Int) -> Int64 {
        count.withLock { count in
            count += Int64(more)
            return count
        }
    }
}
