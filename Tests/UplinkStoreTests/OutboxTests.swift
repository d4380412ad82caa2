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

@Suite(.timeLimit(.minutes(1)))
struct OutboxTests: OutboxSuite {
    @Test func entriesOfAKeyAreSentInOrderAndRemoved() async throws {
        let outbox = try Outbox(try Store.lists())
        try await add(outbox, "a", "1", "2", "3")
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        try await eventually { try await outbox.entries().isEmpty }
        try await add(outbox, "a", "4")
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "2", "3", "4"])
        #expect(Set(handler.entries.map(\.idempotencyKey)).count == 4)
        await stop(run)
    }

    /// SQLite would end the text there: `a\0b` and `a\0c` would be one key.
    @Test func aTextWithANULIsRefused() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        let attempts: [@Sendable () async throws -> Void] = [
            { try await outbox.enqueue(key: "a\0b", payload: Data()) },
            { try await outbox.enqueue(key: "a", kind: "\0", payload: Data()) },
            { _ = try Outbox(store, name: "o\0x") },
            { try await store.sync(Lists.sync(StubFetch(["new"]), "a\0b")) },
            { try await store.database.write { try store.outdate("a\0b", in: $0) } },
        ]
        for attempt in attempts {
            let error = await #expect(throws: StoreError.self) { try await attempt() }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("\\0") == true)
        }
        #expect(try await outbox.entries().isEmpty)
        #expect(try await store.words("a\0b").isEmpty)
    }

    /// For SQLite they are two; for Swift, the strings are equal.
    @Test func keysAndNamesThatOnlyLookTheSameAreTwo() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store, name: "caf\u{e9}")
        try await add(outbox, "caf\u{e9}", "1")
        try await add(outbox, "cafe\u{301}", "2")
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 2 }
        #expect(handler.overlaps == 0)
        handler.release()
        try await eventually { try await outbox.entries().isEmpty }
        try await add(outbox, "cafe\u{301}", "3")
        try await add(outbox, "caf\u{e9}", "4")
        try await eventually { try await outbox.entries().isEmpty }
        #expect(Set(texts(handler)) == ["1", "2", "3", "4"])

        let other = try Outbox(store, name: "cafe\u{301}")
        try await add(other, "a", "5")
        let otherRun = start(other, handler)
        try await eventually { try await other.entries().isEmpty }
        await stop(otherRun)
        await stop(run)
    }

    @Test func aHandlerCanFailAsTheTestSays() async throws {
        let handler = StubOutboxHandler(results: [.failure(Broken(number: 1)), .success(.failed(reason: "no"))])
        let outbox = try Outbox(try Store.lists())
        let entry = try await outbox.enqueue(key: "a", payload: Data())
        await #expect(throws: Broken(number: 1)) { try await handler(entry) }
        guard case .failed = try await handler(entry) else {
            Issue.record("another verdict")
            return
        }
        handler.answer(results: [.failure(Broken(number: 2))])
        await #expect(throws: Broken(number: 2)) { try await handler(entry) }
        handler.answer(.done())
        guard case .done = try await handler(entry) else {
            Issue.record("another verdict")
            return
        }
    }

    @Test func keysAreSentBesideOneAnotherUpToTheLimit() async throws {
        var configuration = OutboxConfiguration()
        configuration.maximumConcurrent = 3
        let outbox = try Outbox(try Store.lists(), configuration: configuration)
        for key in ["a", "b", "c", "d"] { try await add(outbox, key, "1", "2") }
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 3 }
        handler.release()
        try await eventually { try await outbox.entries().isEmpty }
        #expect(handler.mostRunning == 3)
        #expect(handler.overlaps == 0)
        for key in ["a", "b", "c", "d"] { #expect(texts(handler, of: key) == ["1", "2"]) }
        await stop(run)
    }

    @Test func anEntryIsAddedInTheTransactionOfWhatItIsAbout() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        await #expect(throws: Broken.self) {
            try await store.database.write { db in
                try Lists.write(["x"], db)
                try outbox.enqueue(key: "a", payload: Data(), in: db)
                throw Broken()
            }
        }
        #expect(try await outbox.entries().isEmpty)
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        try await store.database.write { db in
            try Lists.write(["x"], db)
            try outbox.enqueue(key: "a", payload: Data(), in: db)
        }
        try await eventually { handler.entries.count == 1 }
        await stop(run)
    }

    @Test func theResultIsWrittenInTheTransactionThatRemovesTheEntry() async throws {
        let clock = ManualClock()
        let store = try Store.stubbed(migrator: Lists.migrator, clock: clock)
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler(
            .done { db in
                try Lists.write(["half"], db)
                throw Broken()
            }, .done { db in try Lists.write(["done"], db) })
        let run = start(outbox, handler)
        try await clock.waitForSleepers(patience: .seconds(30))  // the note failed; it is sent again
        #expect(try await store.words() == [])
        #expect(try await outbox.entries().map(\.attempts) == [1])
        try await clock.advance(by: .seconds(300), patience: .seconds(30))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(try await store.words() == ["done"])
        #expect(handler.entries.count == 2)
        #expect(Set(handler.entries.map(\.idempotencyKey)).count == 1)
        await stop(run)
    }

    @Test func outsideOfATransactionAnEntryIsAddedInOneOfItsOwnAndSent() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        try await eventually { outbox.core.withLock { $0.runner != nil } }
        try await store.database.writeWithoutTransaction { db in
            _ = try outbox.enqueue(key: "a", payload: Data(), in: db)
        }
        try await eventually { handler.entries.count == 1 }
        await stop(run)
    }

    /// Objects of one name are one outbox: the run of one is woken by the other, and its sending is known to it.
    @Test func objectsOfOneNameAreOneOutbox() async throws {
        let store = try Store.lists()
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(try Outbox(store), handler)
        try await eventually { store.outbox("outbox").withLock { $0.runner != nil } }
        let id = try await Outbox(store).enqueue(key: "a", payload: Data()).id
        try await eventually { handler.running == 1 }
        #expect(try await Outbox(store).cancel(id) == .beingSent)
        let next = try await Outbox(store).enqueue(key: "a", payload: Data()).id
        #expect(try await Outbox(store).cancel(next) == .cancelled)
        #expect(try await Outbox(store, name: "other").cancel(id) == .notFound)
        handler.release()
        try await eventually { try await Outbox(store).entries().isEmpty }
        #expect(handler.entries.map(\.id) == [id])
        await stop(run)
    }

    @Test func entriesCanBeCancelledUnlessTheyAreBeingSent() async throws {
        let outbox = try Outbox(try Store.lists())
        try await add(outbox, "a", "1", "2", "3")
        let ids = try await outbox.entries().map(\.id)
        #expect(try await outbox.cancel(ids[1]) == .cancelled)
        #expect(try await outbox.cancel(ids[1]) == .notFound)
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 1 }
        #expect(try await outbox.cancel(ids[0]) == .beingSent)
        handler.release()
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "3"])
        await stop(run)
    }

    @Test func anEntryThatWaitsForTheNetworkCanBeCancelled() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let store = try Store.lists(performer: NetworkOperationPerformer(monitor: monitor, clock: ManualClock()))
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1", "2")
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        var states = outbox.states.makeAsyncIterator()
        while let state = await states.next(), !state.isWaiting {}
        let first = try await outbox.entries()[0].id
        #expect(try await outbox.cancel(first) == .cancelled)
        monitor.goOnline()
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["2"])
        await stop(run)
    }

    @Test func withoutANetworkNothingIsSentAndNoAttemptIsCounted() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let store = try Store.lists(performer: NetworkOperationPerformer(monitor: monitor, clock: ManualClock()))
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        var states = outbox.states.makeAsyncIterator()
        while let state = await states.next(), !state.isWaiting {}
        #expect(handler.entries.isEmpty)
        #expect(try await outbox.entries().map(\.attempts) == [0])
        monitor.goOnline()
        try await eventually { try await outbox.entries().isEmpty }
        await stop(run)
    }

    @Test func aPerformerThatIsBusyIsNotTheNetworkThatIsWaitedFor() async throws {
        let busy = NetworkOperationError(.timedOut, missing: .slot, message: "too many operations (a test)")
        let performer = StubNetworkOperationPerformer(.fails(busy))
        let outbox = try Outbox(try Store.lists(performer: performer))
        try await add(outbox, "a", "1")
        let run = start(outbox, StubOutboxHandler())
        try await eventually { performer.calls.map(\.seconds) == [0, .infinity] }
        #expect(await outbox.state(after: nil).isWaiting == false)
        performer.behaviour = .runs
        try await eventually { try await outbox.entries().isEmpty }
        await stop(run)
    }

    /// Whoever runs it later learns what is there from the database.
    @Test func whoOnlyAddsRemembersNothing() async throws {
        let outbox = try Outbox(try Store.lists())
        for key in ["a", "b", "c"] { try await add(outbox, key, "1") }
        #expect(outbox.core.withLock { $0.keysToLookUp }.isEmpty)
        let run = start(outbox, StubOutboxHandler())
        try await eventually { try await outbox.entries().isEmpty }
        await stop(run)
        try await add(outbox, "a", "2")
        #expect(outbox.core.withLock { $0.keysToLookUp }.isEmpty)
    }

    @Test func limitsAreErrorsAndNothingIsAdded() async throws {
        var configuration = OutboxConfiguration()
        (configuration.maximumEntries, configuration.maximumBytes, configuration.maximumEntryBytes) = (3, 10, 6)
        let outbox = try Outbox(try Store.lists(), configuration: configuration)
        func code(_ count: Int) async throws -> StoreError.Code? {
            do {
                try await outbox.enqueue(key: "a", payload: Data(count: count))
                return nil
            } catch let error as StoreError {
                return error.code
            }
        }
        #expect(try await code(7) == .entryTooLarge)
        #expect(try await code(6) == nil)
        #expect(try await code(5) == .outboxFull)
        #expect(try await code(4) == nil)
        #expect(try await code(0) == nil)
        #expect(try await code(0) == .outboxFull)
        #expect(try await outbox.entries().count == 3)
        configuration.maximumConcurrent = 0
        #expect(throws: StoreError.self) { try Outbox(try Store.lists(), configuration: configuration) }
    }

    @Test func statesTellWhatIsThereAndWhatIsDone() async throws {
        let outbox = try Outbox(try Store.lists())
        var states = outbox.states.makeAsyncIterator()
        #expect(await states.next() == OutboxState())
        try await add(outbox, "a", "123")
        while let state = await states.next(), state.pending != 1 || state.bytes != 3 {}
        let handler = StubOutboxHandler(.failed(reason: "no"))
        handler.hold()
        let run = start(outbox, handler)
        while let state = await states.next(), state.sending.count != 1 || !state.isRunning {}
        handler.release()
        while let state = await states.next(), state.failed != 1 || state.pending != 0 || !state.sending.isEmpty {}
        await stop(run)
        while let state = await states.next(), state.isRunning {}
    }

    @Test func oneCallAtATimeRunsAnOutbox() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        let store = try await Store.open(path, performer: StubNetworkOperationPerformer())
        let other = try await Store.open(path, performer: StubNetworkOperationPerformer())
        let outbox = try Outbox(store)
        let run = start(outbox, StubOutboxHandler())
        try await eventually { outbox.core.withLock { $0.runner != nil } }
        for second in [try Outbox(store), try Outbox(other)] {  // in this store, and through another connection
            do {
                try await second.run { _ in .done() }
            } catch let error as StoreError {
                #expect(error.code == .outboxInUse)
            }
        }
        let another = start(try Outbox(other, name: "other"), StubOutboxHandler())
        await stop(another)
        await stop(run)
        let again = start(try Outbox(other), StubOutboxHandler())
        try await Outbox(other).enqueue(key: "a", payload: Data())
        await stop(again)
    }

    /// What the server has accepted is noted although the run is cancelled meanwhile.
    @Test func anAnswerThatComesAfterTheCancellationIsNoted() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let isCalled = Locked(false)
        let run = Task {
            try await outbox.run { _ in
                isCalled.withLock { $0 = true }
                while !Task.isCancelled { await Task.yield() }
                return .done { db in try Lists.write(["accepted"], db) }
            }
        }
        try await eventually { isCalled.withLock { $0 } }
        await stop(run)
        #expect(try await store.words() == ["accepted"])
        #expect(try await outbox.entries().isEmpty)
    }
}
#endif
