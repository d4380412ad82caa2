// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// What becomes of entries that cannot be sent, or whose result cannot be written.
@Suite(.timeLimit(.minutes(1)))
struct OutboxFailureTests: OutboxSuite {
    @Test func anOutboxThatCannotBeReadIsTriedOnceASecond() async throws {
        let clock = ManualClock()
        let store = try Store.stubbed(clock: clock)
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let reads = Locked(0)
        try await store.database.write { db in
            db.add(
                function: DatabaseFunction("fail", argumentCount: 0) { _ in
                    reads.withLock { $0 += 1 }
                    throw Broken()
                })
            try db.execute(
                sql: """
                    ALTER TABLE uplink_outbox RENAME TO away;
                    CREATE VIEW uplink_outbox AS
                        SELECT 1 AS id, fail() AS outbox, 'a' AS key, 0 AS isFailed, NULL AS failedAt, NULL AS pause
                        FROM away
                    """)
        }
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        for count in 1...5 {
            try await clock.waitForSleepers(patience: .seconds(30))
            #expect(reads.withLock { $0 } == count)
            #expect(clock.sleepers.count == 1)
            clock.move(by: .seconds(1))
        }
        try await clock.waitForSleepers(patience: .seconds(30))
        try await store.database.write { db in
            try db.execute(sql: "DROP VIEW uplink_outbox; ALTER TABLE away RENAME TO uplink_outbox")
        }
        var states = outbox.states.makeAsyncIterator()
        #expect(await states.next()?.problem != nil)
        #expect(handler.entries.isEmpty)
        clock.move(by: .seconds(1))
        while let state = await states.next(), state.problem != nil || state.pending != 0 {}
        #expect(texts(handler) == ["1"])
        await stop(run)
        try clock.checkNobodySleeps()
    }

    @Test func aPauseOnAClockThatFailsEndsNevertheless() async throws {
        var configuration = OutboxConfiguration()
        configuration.backoff.initial = .milliseconds(20)
        let outbox = try Outbox(try Store.stubbed(clock: BrokenClock()), configuration: configuration)
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler(.tryAgain(reason: "a test", after: .milliseconds(20)), .done())
        let run = start(outbox, handler)
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "1"])
        await stop(run)
    }

    /// The claim is older than what the database says.
    @Test func anEntryThatHasFailedForGoodIsNotSentByAnOldClaim() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let id = try await outbox.entries()[0].id
        let claim = outbox.core.withLock { core in
            core.machine.restart(maximumConcurrent: 1)
            core.machine.looked("a", .init(id: id, rest: .zero), now: .zero)
            return core.machine.next(now: .zero)[0]
        }
        try await store.database.write { try $0.execute(sql: "UPDATE uplink_outbox SET isFailed = 1") }
        let handler = StubOutboxHandler()
        #expect(await outbox.deliver(claim, under: nil) { try await handler($0) } == nil)
        #expect(handler.entries.isEmpty)
    }

    /// A result that can never be written is an attempt that fails, each time.
    @Test func aResultThatCannotBeWrittenHasFailedAfterTheMostAttempts() async throws {
        let clock = ManualClock()
        var configuration = OutboxConfiguration()
        configuration.maximumAttempts = 3
        configuration.backoff.jitter = 0
        let outbox = try Outbox(try Store.stubbed(clock: clock), configuration: configuration)
        try await add(outbox, "a", "1")
        let calls = Locked(0)
        let run = Task {
            try await outbox.run { _ in
                calls.withLock { $0 += 1 }
                return .done { _ in throw Broken() }
            }
        }
        for attempts in 1...2 {
            try await clock.waitForSleepers(patience: .seconds(30))
            #expect(calls.withLock { $0 } == attempts)
            #expect(try await outbox.entries()[0].attempts == attempts)
            clock.move(by: .seconds(attempts))  // 1 s, then 2 s
        }
        try await eventually { try await outbox.entries()[0].isFailed }
        #expect(calls.withLock { $0 } == 3)
        await stop(run)
    }

    @Test func aFailedAttemptRestsAndKeepsItsPlace() async throws {
        let clock = ManualClock()
        let outbox = try Outbox(try Store.stubbed(clock: clock))
        try await add(outbox, "a", "1", "2")
        let handler = StubOutboxHandler(.tryAgain(reason: "busy", after: .seconds(10)), .done())
        let run = start(outbox, handler)
        try await clock.waitForSleepers(patience: .seconds(30))
        var states = outbox.states.makeAsyncIterator()
        #expect(await states.next()?.resting == 1)
        let entry = try await outbox.entries()[0]
        #expect(entry.attempts == 1)
        #expect(entry.lastError == "busy")
        #expect(!entry.isFailed)
        #expect(texts(handler) == ["1"])
        clock.move(by: .seconds(9))
        await Task.yield()
        #expect(texts(handler) == ["1"])
        clock.move(by: .seconds(1))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "1", "2"])
        #expect(handler.entries[0].idempotencyKey == handler.entries[1].idempotencyKey)
        await stop(run)
    }

    /// It would be sent as fast as it goes, without end.
    @Test(arguments: [Duration.zero, .seconds(-5), .milliseconds(1)])
    func whoWantsItTriedAtOnceWaitsForTheFirstPause(after: Duration) async throws {
        let clock = ManualClock()
        let outbox = try Outbox(try Store.stubbed(clock: clock))
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler(.tryAgain(reason: "busy", after: after), .done())
        let run = start(outbox, handler)
        try await clock.waitForSleepers(patience: .seconds(30))
        clock.move(by: .milliseconds(999))
        await Task.yield()
        #expect(texts(handler) == ["1"])
        clock.move(by: .milliseconds(1))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "1"])
        await stop(run)
    }

    @Test func whatAHandlerThrowsMeansTryAgain() async throws {
        let clock = ManualClock()
        let outbox = try Outbox(try Store.stubbed(clock: clock))
        try await add(outbox, "a", "1")
        let calls = Locked(0)
        let run = Task {
            try await outbox.run { _ in
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call == 1 { throw Broken() }
                return .done()
            }
        }
        try await clock.advance(by: .seconds(2), patience: .seconds(30))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(calls.withLock { $0 } == 2)
        await stop(run)
    }

    @Test func aClockThatWasSetBackDoesNotHoldAnEntryBack() async throws {
        let (clock, wall) = (ManualClock(), WallClock())
        let store = try Store.stubbed(clock: clock, now: { wall.now })
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler(.tryAgain(reason: "busy", after: .seconds(10)), .done())
        var run = start(outbox, handler)
        try await clock.waitForSleepers(patience: .seconds(30))
        await stop(run)
        wall.move(by: -86_400)
        run = start(outbox, handler)
        try await clock.advance(by: .seconds(10), patience: .seconds(30))
        try await eventually { try await outbox.entries().isEmpty }
        await stop(run)
    }

    @Test func anEntryThatFailsForGoodIsKeptAndTheNextIsSent() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1", "2")
        let handler = StubOutboxHandler(
            .failed(reason: "refused\0by the server") { db in try Lists.write(["undone"], db) }, .done())
        let run = start(outbox, handler)
        try await eventually { handler.entries.count == 2 }
        try await eventually { try await outbox.entries().count == 1 }
        let entry = try await outbox.entries()[0]
        #expect(entry.isFailed)
        #expect(entry.lastError == "refused\u{FFFD}by the server")
        #expect(try await store.words() == ["undone"])
        #expect(try await outbox.retry(entry.id))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "2", "1"])
        #expect(try await !outbox.retry(entry.id))
        await stop(run)
    }

    /// What makes no sense without it goes in the transaction of its verdict, or stays with it.
    @Test func whatFollowsAnEntryThatHasFailedCanBeCancelledWithItsVerdict() async throws {
        let clock = ManualClock()
        let store = try Store.stubbed(clock: clock)
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1", "2", "3")
        try await add(outbox, "b", "4")
        try await add(try Outbox(store, name: "other"), "a", "5")
        let (calls, cancelled) = (Locked(0), Locked<[Int]>([]))
        let run = Task {
            try await outbox.run { entry in
                if entry.key == "b" { return .done() }
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                return .failed(reason: "refused") { db in
                    let count = try outbox.cancelFollowing(entry, in: db)
                    cancelled.withLock { $0.append(count) }
                    if call == 1 { throw Broken() }
                }
            }
        }
        try await clock.waitForSleepers(patience: .seconds(30))
        try await eventually { try await outbox.entries().count == 3 }  // that of the key "b" is sent
        clock.move(by: .seconds(1))
        try await eventually { await outbox.state(after: nil).pending == 0 }
        #expect(cancelled.withLock { $0 } == [2, 2])
        let entries = try await outbox.entries()
        #expect(entries.map(\.isFailed) == [true])
        #expect(try await Outbox(store, name: "other").entries().count == 1)
        await #expect(throws: StoreError.self) {  // nobody knows what is being sent
            try await store.database.write { db in _ = try outbox.cancelFollowing(entries[0], in: db) }
        }
        await stop(run)
    }

    @Test func whatFollowsCannotBeCancelledWhereNothingCanBeWritten() async throws {
        let store = try Store.stubbed()
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1", "2")
        let refused = Locked<(any Error)?>(nil)
        let run = Task {
            try await outbox.run { entry in
                do { _ = try await store.database.read { try outbox.cancelFollowing(entry, in: $0) } } catch {
                    refused.withLock { $0 = error }
                }
                return .done()
            }
        }
        try await eventually { try await outbox.entries().isEmpty }
        #expect((refused.withLock { $0 } as? DatabaseError)?.resultCode == .SQLITE_READONLY)
        await stop(run)
    }

    @Test func afterTheMostAttemptsAnEntryHasFailed() async throws {
        let clock = ManualClock()
        var configuration = OutboxConfiguration()
        configuration.maximumAttempts = 2
        let outbox = try Outbox(try Store.stubbed(clock: clock), configuration: configuration)
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler(.tryAgain(reason: "busy"))
        let run = start(outbox, handler)
        try await clock.advance(by: .seconds(2), patience: .seconds(30))
        try await eventually { try await outbox.entries().first?.isFailed == true }
        #expect(handler.entries.count == 2)
        await stop(run)
    }

    /// Between the two the outbox is read, which goes well.
    @Test func aProblemOfAnEntryEndsWhenOneGoesWell() async throws {
        let clock = ManualClock()
        let outbox = try Outbox(try Store.stubbed(clock: clock))
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler(.done { _ in throw Broken() }, .done())
        let run = start(outbox, handler)
        try await clock.waitForSleepers(patience: .seconds(30))
        #expect(await outbox.state(after: nil).problem?.contains("Broken") == true)
        clock.move(by: .seconds(60))
        try await eventually { try await outbox.entries().isEmpty }
        try await eventually { await outbox.state(after: nil).problem == nil }
        await stop(run)
    }

    @Test func aProblemOfAnEntryEndsWithTheEntry() async throws {
        let clock = ManualClock()
        let outbox = try Outbox(try Store.stubbed(clock: clock))
        try await add(outbox, "a", "1")
        let run = start(outbox, StubOutboxHandler(.done { _ in throw Broken() }))
        try await clock.waitForSleepers(patience: .seconds(30))
        #expect(await outbox.state(after: nil).problem != nil)
        let entry = try #require(try await outbox.entries().first)
        #expect(try await outbox.cancel(entry.id) == .cancelled)
        try await eventually { await outbox.state(after: nil).problem == nil }
        await stop(run)
    }

    @Test func aProblemEndsWithItsRun() async throws {
        let clock = ManualClock()
        let outbox = try Outbox(try Store.stubbed(clock: clock))
        try await add(outbox, "a", "1")
        let run = Task { try await outbox.run { _ in .done { _ in throw Broken() } } }
        var states = outbox.states.makeAsyncIterator()
        while let state = await states.next(), state.problem == nil {}
        await stop(run)
        var later = outbox.states.makeAsyncIterator()
        #expect(await later.next()?.problem == nil)
    }
}
#endif
