// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import TestSupport
import Testing
@testable import UplinkStore
import UplinkStoreTesting

/// The handler that tests of outboxes use.
@Suite(.timeLimit(.minutes(1)))
struct StubOutboxHandlerTests {
    private func entry(_ key: String) -> OutboxEntry {
        OutboxEntry(
            OutboxRow(
                outbox: "o", key: key, kind: "k", payload: Data(), bytes: 0, idempotencyKey: key, createdAt: 0))
    }

    @Test func heldCallsGetTheirVerdictsInTheOrderInWhichTheyCame() async throws {
        for _ in 0..<50 {
            let handler = StubOutboxHandler(.failed(reason: "1"), .done())
            handler.hold()
            let first = Task { try await handler(entry("a")) }
            try await eventually { handler.running == 1 }
            let second = Task { try await handler(entry("b")) }
            try await eventually { handler.running == 2 }
            handler.release()
            guard case .failed = try await first.value, case .done = try await second.value else {
                Issue.record("the verdicts went to the wrong calls")
                return
            }
        }
    }
}
#endif
