// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// What becomes of entries of which nothing can be noted, not even that they have failed.
@Suite(.timeLimit(.minutes(1)))
struct OutboxFullDiskTests: OutboxSuite {
    /// As on a full disk: no entry can be changed.
    private func fill(_ store: Store) async throws {
        try await store.database.write { db in
            for change in ["UPDATE", "DELETE"] {
                try db.execute(
                    sql: """
                        CREATE TRIGGER full\(change) BEFORE \(change) ON uplink_outbox
                        BEGIN SELECT RAISE(ABORT, 'no room'); END
                        """)
            }
        }
    }

    private func makeRoom(_ store: Store) async throws {
        try await store.database.write { try $0.execute(sql: "DROP TRIGGER fullUPDATE; DROP TRIGGER fullDELETE") }
    }

    @Test func itRestsLongerEachTimeAllTheSame() async throws {
        let clock = ManualClock()
        var configuration = OutboxConfiguration()
        configuration.backoff.jitter = 0
        let store = try Store.stubbed(clock: clock)
        let outbox = try Outbox(store, configuration: configuration)
        try await add(outbox, "a", "1", "2")
        try await fill(store)
        let handler = StubOutboxHandler(.done())
        let run = start(outbox, handler)
        for (count, pause) in [1, 2, 4, 8].enumerated() {
            try await clock.waitForSleepers(patience: .seconds(30))
            clock.move(by: .seconds(pause) - .milliseconds(1))
            for _ in 0..<100 { await Task.yield() }
            #expect(handler.entries.count == count + 1)
            clock.move(by: .milliseconds(1))
            try await eventually { handler.entries.count == count + 2 }
        }
        try await clock.waitForSleepers(patience: .seconds(30))
        #expect(handler.entries.map(\.attempts) == [0, 1, 2, 3, 4])
        try await makeRoom(store)
        clock.move(by: .seconds(16))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(handler.entries.map(\.attempts) == [0, 1, 2, 3, 4, 5, 0])
        await stop(run)
    }

    @Test func afterTheMostAttemptsItIsNotSentAnyMore() async throws {
        let clock = ManualClock()
        var configuration = OutboxConfiguration()
        configuration.maximumAttempts = 2
        let store = try Store.stubbed(clock: clock)
        let outbox = try Outbox(store, configuration: configuration)
        try await add(outbox, "a", "1")
        try await fill(store)
        let handler = StubOutboxHandler(.done())
        let run = start(outbox, handler)
        for _ in 0..<4 { try await clock.advance(by: .seconds(300), patience: .seconds(30)) }
        try await clock.waitForSleepers(patience: .seconds(30))
        #expect(handler.entries.count == 2)
        #expect(await outbox.state(after: nil).problem?.contains("no room") == true)
        try await makeRoom(store)
        clock.move(by: .seconds(300))
        try await eventually { try await outbox.entries().first?.isFailed == true }
        let entry = try await outbox.entries()[0]
        #expect(entry.attempts == 2 && entry.lastError?.contains("no room") == true)
        // Whoever wants it tried again has it counted anew.
        #expect(try await outbox.retry(entry.id))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(handler.entries.map(\.attempts) == [0, 1, 0])
        await stop(run)
    }

    /// What was kept in mind is older than the retry.
    @Test func aRetryHasItCountedAnew() async throws {
        let clock = ManualClock()
        let store = try Store.stubbed(clock: clock)
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        try await fill(store)
        let handler = StubOutboxHandler(.done())
        let run = start(outbox, handler)
        try await clock.advance(by: .seconds(300), patience: .seconds(30))
        try await eventually { handler.entries.count == 2 }
        try await clock.waitForSleepers(patience: .seconds(30))
        try await makeRoom(store)
        #expect(try await outbox.retry(handler.entries[0].id))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(handler.entries.map(\.attempts) == [0, 1, 0])
        await stop(run)
    }
}
#endif
