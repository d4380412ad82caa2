// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// One nginx for a whole suite.
struct SharedNginx: SuiteTrait, TestScoping {
    @TaskLocal static var server: NginxServer?

    /// What `/file` is.
    static let file = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let server = try await offPool { try NginxServer(file: Self.file) }
        defer { server.stop() }
        try await Self.$server.withValue(server) { try await function() }
    }
}
