// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension HTTPRequestBody {
    /// The prepared body, if nothing has to be looked up.
    package var preparedAtOnce: PreparedBody? {
        switch content {
        case .none: prepared(.none, nil)
        case .bytes(let bytes): prepared(.bytes(bytes), Int64(bytes.count))
        case .stream: nil
        }
    }

    /// Looks up what has to be known before the head is sent.
    ///
    /// - Throws: ``HTTPClientError`` when a file cannot be read, or the error of a sequence whose announced length is
    ///   zero.
    package func prepare(blocking work: any BlockingWork) async throws -> PreparedBody {
        switch content {
        case .none: return prepared(.none, nil)
        case .bytes(let bytes): return prepared(.bytes(bytes), Int64(bytes.count))
        case .stream(let stream):
            let production = try await stream.prepare(work)
            guard production.length == 0 else { return prepared(.production(production), production.length) }
            // Nobody would ever ask a producer of zero bytes, but it may produce something anyway.
            do {
                try await production.run(BodySink { _ in throw BodyLength.exceeded(0) })
            } catch var error as HTTPClientError where error.code == .bodyLengthMismatch {
                // No connection has been opened for it yet.
                (error.phase, error.requestDisposition) = (.request, .notSent)
                throw error
            }
            return prepared(.bytes([]), 0)
        }
    }

    private func prepared(_ content: PreparedBody.Content, _ length: Int64?) -> PreparedBody {
        PreparedBody(content: content, length: length, isReplayable: isReplayable, expectsContinue: expectsContinue)
    }

    /// Reads the whole body into memory; for custom transports.
    ///
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/bodyTooLarge`` when there is more than `maximum`, or
    ///   any error of the producer.
    public func collect(upTo maximum: Int) async throws -> [UInt8] {
        let collected = BodyCollector(maximum)
        switch try await prepare(blocking: InlineWork()).content {
        case .none: break
        case .bytes(let bytes): try collected.append(HTTPBody.Chunk(bytes))
        case .production(let production):
            try await production.run(BodySink { try collected.append($0) })
            try BodyLength.check(Int64(collected.bytes.count), against: production.length)
        }
        return collected.bytes
    }
}

/// Gathers a body in memory.
private final class BodyCollector: Sendable {
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
