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

@Suite(.timeLimit(.minutes(1)))
struct StreamTests {
    @Test func theStoredValueComesFirstAndASyncFollows() async throws {
        let store = try Store.lists()
        try await store.write(["old"])
        let fetch = StubFetch(["new"])
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch)))
        try await eventually { recorder.values == [["old"], ["new"]] }
        #expect(recorder.words.first == "value([\"old\"])")
        #expect(fetch.calls == 1)
    }

    @Test func nothingHappensBeforeTheStreamIsIterated() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        let stream = store.stream(Lists.query(), sync: Lists.sync(fetch))
        #expect(store.syncs.isIdle)
        #expect(try await store.words() == [])
        #expect(fetch.calls == 0)
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next()?.value == [])
        try await eventually { fetch.calls == 1 }
    }

    @Test func aSyncIsOneTransactionAndShowsOneValue() async throws {
        let store = try Store.lists()
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(StubFetch((0..<100).map { "\($0)" }))))
        try await eventually { recorder.values.count == 2 }
        #expect(recorder.values.last?.count == 100)
        #expect(recorder.errors.isEmpty)
    }

    @Test func identicalDataShowsNoValueAndTheSyncEndsAsNoNews() async throws {
        let store = try Store.lists()
        try await store.write(["same"])
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(StubFetch(["same"]))))
        try await eventually { recorder.words.last == "noNews" }
        #expect(recorder.values == [["same"]])
        try await store.write(["same"])  // by anybody
        try await store.write(["other"])
        try await eventually { recorder.values.last == ["other"] }
        #expect(recorder.values == [["same"], ["other"]])
    }

    @Test func aFetchWithoutNewsEndsAsNoNews() async throws {
        let store = try Store.lists()
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(StubFetch(results: [.success(nil)]))))
        try await eventually { recorder.words.last == "noNews" }
        #expect(recorder.values == [[]])
    }

    @Test func aFailedFetchIsOneErrorAndTheStreamLivesOn() async throws {
        let store = try Store.lists()
        try await store.write(["old"])
        let fetch = StubFetch<[String]>(results: [.failure(Broken())])
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch)))
        try await eventually { recorder.errors.count == 1 }
        #expect(recorder.errors[0].code == .fetchFailed)
        #expect(recorder.errors[0].underlyingError is Broken)
        try await store.write(["later"])
        try await eventually { recorder.values.last == ["later"] }
        #expect(recorder.errors.count == 1)
    }

    @Test func aFailedWriteIsRolledBackWholeAndIsOneError() async throws {
        let store = try Store.lists()
        try await store.write(["old"])
        let sync = StoreSync("a") {
            ["new"]
        } write: { db, words in
            try Lists.write(words, db)
            throw Broken()
        }
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: sync))
        try await eventually { recorder.errors.count == 1 }
        #expect(recorder.errors[0].code == .writeFailed)
        #expect(try await store.words() == ["old"])
        #expect(try await store.record(of: "a").number == 0)
        #expect(recorder.values == [["old"]])
    }

    @Test func aReadErrorIsAnElementAndObservationGoesOn() async throws {
        let store = try Store.lists()
        try await store.write(["bad"])
        let query = StoreQuery("strict") { db in
            let words = try String.fetchAll(db, sql: "SELECT text FROM word ORDER BY id")
            if words.contains("bad") { throw Broken() }
            return words
        }
        let recorder = StoreRecorder(store.stream(query))
        try await eventually { recorder.words == ["error(readFailed)"] }
        try await store.write(["good"])
        try await eventually { recorder.values == [["good"]] }
        try await store.write(["bad"])
        try await eventually { recorder.errors.count == 2 }
        try await store.write(["better"])
        try await eventually { recorder.values == [["good"], ["better"]] }
    }

    /// An error that stays is not told with every commit; that it has gone is.
    @Test func aReadErrorThatStaysIsToldOnce() async throws {
        let store = try Store.lists()
        let (isBroken, reads) = (Locked(false), Locked(0))
        let query = StoreQuery("fickle") { db in
            _ = try String.fetchAll(db, sql: "SELECT text FROM word")
            reads.withLock { $0 += 1 }
            if isBroken.withLock({ $0 }) { throw Broken() }
            return 7
        }
        let recorder = StoreRecorder(store.stream(query))
        try await eventually { recorder.values == [7] }
        isBroken.withLock { $0 = true }
        for list in ["x", "y", "z"] {
            let before = reads.withLock { $0 }
            try await store.write([list], to: list)
            try await eventually { reads.withLock { $0 } > before }
        }
        isBroken.withLock { $0 = false }
        try await store.write(["good"])
        try await eventually { recorder.values.count == 2 }
        #expect(recorder.words == ["value(7)", "error(readFailed)", "value(7)"])
    }

    /// GRDB does not see what is written to such a table.
    @Test func aTableWithoutRowIDsIsSeenWhereTheWriterSaysSo() async throws {
        let store = try Store.lists()
        try await store.database.write { db in
            try db.execute(sql: "CREATE TABLE pair (a TEXT PRIMARY KEY) WITHOUT ROWID")
        }
        let query = StoreQuery("pairs") { db in try String.fetchAll(db, sql: "SELECT a FROM pair") }
        let recorder = StoreRecorder(store.stream(query))
        try await eventually { recorder.values == [[]] }
        try await store.database.write { db in
            try db.execute(sql: "INSERT INTO pair VALUES ('x')")
            try db.notifyChanges(in: Table("pair"))
        }
        try await eventually { recorder.values == [[], ["x"]] }
    }

    /// SQLite says what is wrong before it has read anything that could be observed.
    @Test func aQueryOfATableThatComesLaterRecovers() async throws {
        let store = try Store.lists()
        let query = StoreQuery("later") { db in try Int.fetchAll(db, sql: "SELECT x FROM later") }
        let recorder = StoreRecorder(store.stream(query))
        try await eventually { recorder.words == ["error(readFailed)"] }
        try await store.database.write { db in
            try db.execute(sql: "CREATE TABLE later (x INTEGER); INSERT INTO later VALUES (7)")
        }
        try await eventually { recorder.values == [[7]] }
    }

    @Test func aValueTellsAfterWhichSyncItIs() async throws {
        let wall = WallClock()
        let store = try Store.lists(wall: wall)
        let fetch = StubFetch(["1"], ["2"])
        let sync = Lists.sync(fetch)
        try await store.sync(sync)
        wall.move(by: 60)
        fetch.hold()
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: sync))
        try await eventually { recorder.elements.count == 2 }
        guard case .value(["1"], let first) = recorder.elements[0] else { throw Broken() }
        #expect(first.number == 1)
        #expect(first.age == .seconds(60))
        #expect(first.syncedAt == wall.now - 60)
        #expect(first.isRefreshing)
        #expect(recorder.words[1] == "loading")
        fetch.release()
        try await eventually { recorder.elements.count == 3 }
        guard case .value(["2"], let second) = recorder.elements[2] else { throw Broken() }
        #expect(second.number == 2)
        #expect(second.age == .zero)
        #expect(!second.isRefreshing)
    }

    @Test func changesThatDoNotConcernTheQueryAreNotRead() async throws {
        let store = try Store.lists()
        let reads = Locked(0)
        let query = StoreQuery("a") { db in
            reads.withLock { $0 += 1 }
            return try String.fetchAll(db, sql: "SELECT text FROM word WHERE list = 'a'")
        }
        let sync = Lists.sync(StubFetch(["x"]))
        let recorder = StoreRecorder(store.stream(query, sync: sync))
        try await eventually { recorder.values == [[], ["x"]] }
        try await eventually { store.syncs.isIdle }
        let before = reads.withLock { $0 }
        for index in 0..<20 {  // notes of other keys' syncs, in the same table as this key's
            try await store.sync(StoreSync("other \(index)", fetch: { 1 }, write: { _, _ in }))
        }
        try await store.write(["y"])
        try await eventually { recorder.values.last == ["y"] }
        #expect(reads.withLock { $0 } <= before + 2)
        withExtendedLifetime(recorder) {}
    }

    @Test func theOrderOfCommitsIsTheOrderOfValues() async throws {
        let store = try Store.lists()
        try await store.database.write {
            try $0.execute(sql: "CREATE TABLE counter (n INTEGER); INSERT INTO counter VALUES (0)")
        }
        let query = StoreQuery("n") { db in try Int.fetchOne(db, sql: "SELECT n FROM counter") ?? -1 }
        let recorder = StoreRecorder(store.stream(query))
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try await store.database.write { try $0.execute(sql: "UPDATE counter SET n = n + 1") }
                    }
                }
            }
        }
        try await eventually { recorder.values.last == 200 }
        #expect(recorder.values == recorder.values.sorted())
        #expect(recorder.values.count == Set(recorder.values).count)
    }

    @Test func aDroppedIteratorLetsGoOfEverything() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        fetch.hold()
        do {
            var iterator = store.stream(Lists.query(), sync: Lists.sync(fetch)).makeAsyncIterator()
            #expect(await iterator.next()?.value == [])
            try await eventually { fetch.running == 1 }
        }
        try await eventually { fetch.running == 0 && store.syncs.isIdle }
        #expect(try await store.words() == [])
    }

    @Test func aCancelledReaderGetsNilAndLeavesTheSync() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        fetch.hold()
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch)))
        try await eventually { fetch.running == 1 }
        await recorder.stop()
        try await eventually { fetch.running == 0 && store.syncs.isIdle }
    }

    @Test func errorsAreHandledBesideTheValues() async throws {
        let store = try Store.lists()
        try await store.write(["old"])
        let handled = Locked<[StoreError.Code]>([])
        let values = store.stream(
            Lists.query(), sync: Lists.sync(StubFetch(results: [.failure(Broken())]))
        ).handlingErrors { error in handled.withLock { $0.append(error.code) } }
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == ["old"])
        async let second = iterator.next()
        try await eventually { handled.withLock { $0 } == [.fetchFailed] }
        try await store.write(["new"])
        #expect(await second == ["new"])
    }
}
#endif
