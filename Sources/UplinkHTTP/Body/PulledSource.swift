// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// A source that asks a closure.
final class PulledSource: HTTPBodySource {
    private let pull: @Sendable () async throws -> [UInt8]?
    private let hasEnded = Locked(false)

    init(next: @escaping @Sendable () async throws -> [UInt8]?) { pull = next }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        try Task.checkCancellation()
        if hasEnded.withLock({ $0 }) { return nil }
        guard let bytes = try await pull() else {
            hasEnded.withLock { $0 = true }
            return nil
        }
        return HTTPBody.Chunk(bytes)
    }

    func cancel() {}

    func limit(toRemaining total: Duration) {}

    var heedsLimit: Bool { false }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await offLoops(work)
    }

    var trailerFields: HTTPFields? { nil }
}
