// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// A source that asks a closure.
final class PulledSource: HTTPBodySource {
    private let pull: @Sendable () async throws -> [UInt8]?

    init(next: @escaping @Sendable () async throws -> [UInt8]?) { pull = next }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        try Task.checkCancellation()
        return try await pull().map { HTTPBody.Chunk($0) }
    }

    func cancel() {}

    func limit(toRemaining total: Duration) {}

    var heedsLimit: Bool { false }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await offLoops(work)
    }

    var trailerFields: HTTPFields? { nil }
}
