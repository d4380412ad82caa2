// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore

@testable import UplinkEventLoop

/// Where work runs that callers share.
@Suite(.timeLimit(.minutes(1)))
struct SharedWorkTests {
    /// Off Swift's default pool, which needs descriptors.
    @Test func itRunsWhereTheFirstCallerPrefersTo() async throws {
        try await withEventLoop { loop in
            let shared = SharedWork<Int, Bool>()
            let isOnLoop = try await withTaskExecutorPreference(loop) {
                try await shared.value(for: 1) { loop.isCurrent }
            }
            #expect(isOnLoop)
            #expect(try await shared.value(for: 1) { loop.isCurrent } == false)
        }
    }
}
