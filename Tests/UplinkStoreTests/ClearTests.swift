// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct ClearTests {
    @Test func clearingAKeyLeavesTheOthers() async throws {
        let store = try Store.lists()
        let a = Lists.sync(StubFetch(["1"]), "a")
        let b = Lists.sync(StubFetch(["2"]), "b")
        try await store.sync(a)
        try await store.sync(b)
        let recorder = StoreRecorder(store.stream(Lists.query("a"), sync: a, request: .storedOnly))
        try await eventually { recorder.values == [["1"]] }
        try await store.clear(a)
        try await eventually { recorder.values == [["1"], []] }
        #expect(try await store.words("b") == ["2"])
        #expect(try await store.validity(of: a, maximumAge: .seconds(60)) == .missing)
        #expect(try await store.validity(of: b, maximumAge: .seconds(3600)) == .valid(age: .zero))
    }

    @Test func clearingAllClearsAll() async throws {
        let store = try Store.lists()
        let syncs = ["a", "b"].map { Lists.sync(StubFetch([$0]), $0) }
        for sync in syncs { try await store.sync(sync) }
        try await store.clearAll { try $0.execute(sql: "DELETE FROM word") }
        for sync in syncs {
            #expect(try await store.validity(of: sync, maximumAge: .seconds(60)) == .missing)
            #expect(try await store.words(sync.key) == [])
        }
    }

    @Test func aClearThatFailsChangesNothing() async throws {
        let store = try Store.lists()
        try await store.sync(Lists.sync(StubFetch(["1"])))
        await #expect(throws: StoreError.self) { try await store.clearAll { _ in throw Broken() } }
        #expect(try await store.record(of: "a").number == 1)
        let sync = StoreSync("a", fetch: { 1 }, write: { _, _ in })
        do {
            try await store.clear(sync)
            Issue.record("a sync without `erase` was cleared")
        } catch let error as StoreError {
            #expect(error.code == .invalidArgument)
        }
    }

    /// What was fetched before a clearing does not come back after it; the sync fetches again.
    @Test(arguments: [false, true])
    func aSyncThatWasUnderWayFetchesAgain(all: Bool) async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["before"], ["after"])
        fetch.hold()
        let sync = Lists.sync(fetch)
        let asker = Task { try await store.sync(sync) }
        try await eventually { fetch.running == 1 }
        if all { try await store.clearAll { try Lists.erase($0) } } else { try await store.clear(sync) }
        fetch.release()
        #expect(try await asker.value == .written)
        #expect(fetch.calls == 2)
        #expect(try await store.words() == ["after"])
    }

    @Test func aKeyThatIsClearedAgainAndAgainEndsItsSyncWithAnError() async throws {
        let store = try Store.lists()
        let fetches = Locked(0)
        let sync = StoreSync("a") { () -> [String]? in
            fetches.withLock { $0 += 1 }
            try await store.clearAll { try Lists.erase($0) }
            return ["x"]
        } write: { db, words in
            try Lists.write(words, db)
        }
        do {
            try await store.sync(sync)
            Issue.record("it was written")
        } catch let error as StoreError {
            #expect(error.code == .cleared)
        }
        #expect(fetches.withLock { $0 } == 3)
        #expect(try await store.words() == [])
    }
}
#endif
