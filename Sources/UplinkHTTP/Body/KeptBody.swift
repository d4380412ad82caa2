// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// A body that is in memory as one chunk, with its trailer fields.
final class KeptBody: HTTPBodySource {
    private let chunk: Locked<HTTPBody.Chunk?>
    let trailerFields: HTTPFields?

    init(_ chunk: HTTPBody.Chunk, trailerFields: HTTPFields?) {
        self.chunk = Locked(chunk.count > 0 ? chunk : nil)
        self.trailerFields = trailerFields
    }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        try Task.checkCancellation()
        return chunk.withLock { chunk in
            defer { chunk = nil }
            return chunk
        }
    }

    func cancel() { chunk.withLock { $0 = nil } }

    func limit(toRemaining total: Duration) {}

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await offLoops(work)
    }
}
