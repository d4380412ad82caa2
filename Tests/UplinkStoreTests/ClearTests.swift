// SPDX-License-Identifier: Apache-2.0
#if Store
import Dispatch
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

    private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    /// What was fetched before a clearing does not come back after it; the sync fetches again.
    @Test func aSyncThatWasUnderWayFetchesAgain() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["before"], ["after"])
        fetch.hold()
        let sync = Lists.sync(fetch)
        let asker = Task { try await store.sync(sync) }
        try await eventually { fetch.running == 1 }
        try await store.clear(sync)
        fetch.release()
        #expect(try await asker.value == .written)
        #expect(fetch.calls == 2)
        #expect(try await store.words() == ["after"])
    }

    /// Somebody has logged out, and the fetch is theirs.
    @Test func aSyncThatWasUnderWayEndsWhenAllIsCleared() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["theirs"])
        fetch.hold()
        let asker = Task { try await store.sync(Lists.sync(fetch)) }
        try await eventually { fetch.running == 1 }
        try await store.clearAll { try Lists.erase($0) }
        fetch.release()
        #expect(await code { _ = try await asker.value } == .cleared)
        #expect(fetch.calls == 1)
        #expect(try await store.words() == [])
        try await store.sync(Lists.sync(StubFetch(["mine"])))
        #expect(try await store.words() == ["mine"])
    }

    /// Nothing was cleared, so what was fetched is good.
    @Test func aSyncThatWasUnderWayGoesOnIfClearingAllFails() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["theirs"])
        fetch.hold()
        let asker = Task { try await store.sync(Lists.sync(fetch)) }
        try await eventually { fetch.running == 1 }
        try await store.writing("making a constraint") { db in
            try db.execute(
                sql: """
                    CREATE TABLE one (id INTEGER PRIMARY KEY);
                    CREATE TABLE other (id INTEGER REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED);
                    """)
        }
        await #expect(throws: StoreError.self) {  // at its commit
            try await store.clearAll { try $0.execute(sql: "INSERT INTO other VALUES (7)") }
        }
        fetch.release()
        #expect(try await asker.value == .written)
        #expect(try await store.words() == ["theirs"])
    }

    /// Anyone may have written them.
    @Test func numbersThatCannotGrowAreNoTrap() async throws {
        let store = try Store.lists()
        let key = Lists.sync(StubFetch([])).key
        try await store.sync(Lists.sync(StubFetch(["a"])))
        try await store.writing("a test") { db in
            try db.execute(sql: "UPDATE uplink_sync SET number = ?, epoch = ?", arguments: [Int64.max, Int64.max])
        }
        try await store.sync(Lists.sync(StubFetch(["b"])), force: true)
        #expect(try await store.words() == ["b"])
        try await store.writing("a test") { db in
            try db.execute(sql: "UPDATE uplink_sync SET number = ?, epoch = ?", arguments: [Int64.max, Int64.max])
            try store.outdate(key, in: db)
        }
        try await store.clear(Lists.sync(StubFetch(["d"])))
        #expect(try await store.words() == [])
    }

    /// It would ask for a user who has logged out.
    @Test func aSyncThatWaitsForTheNetworkEndsAndFetchesNothing() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let performer = NetworkOperationPerformer(monitor: monitor, clock: ManualClock())
        let store = try Store.lists(performer: performer)
        let fetch = StubFetch(["old"])
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch)))
        try await eventually { recorder.words.last == "waiting" }
        try await store.clearAll { _ in }
        try await eventually { recorder.errors.map(\.code) == [.cleared] }
        monitor.goOnline()
        #expect(try await store.sync(Lists.sync(StubFetch(["new"]))) == .written)
        #expect(fetch.calls == 0)
    }

    /// A sync that is asked for while everything is being cleared is of before, though it reads nothing until that is
    /// done.
    @Test func aSyncThatBeginsWhileAllIsClearedEndsToo() async throws {
        let store = try Store.lists()  // in memory: its reads wait for its writes
        let (isClearing, mayGoOn) = (Locked(false), DispatchSemaphore(value: 0))
        let clearing = Task {
            try await store.clearAll { db in
                isClearing.withLock { $0 = true }
                mayGoOn.wait()
                try Lists.erase(db)
            }
        }
        try await eventually { isClearing.withLock { $0 } }
        let asker = Task { try await store.sync(Lists.sync(StubFetch(["theirs"]))) }
        try await eventually { store.syncs.waiting == 1 }
        mayGoOn.signal()
        try await clearing.value
        #expect(await code { _ = try await asker.value } == .cleared)
        #expect(try await store.words() == [])
    }

    /// Who has logged in does not share what is still under way for who has logged out.
    @Test func whoAsksAfterAllIsClearedSharesNothingOfBefore() async throws {
        let store = try Store.lists()
        let theirs = StubFetch(["theirs"])
        theirs.hold()
        let before = Task { try await store.sync(Lists.sync(theirs)) }
        try await eventually { theirs.running == 1 }
        try await store.clearAll { try Lists.erase($0) }
        #expect(try await store.sync(Lists.sync(StubFetch(["mine"]))) == .written)
        theirs.release()
        #expect(await code { _ = try await before.value } == .cleared)
        #expect(try await store.words() == ["mine"])
    }

    /// A sync whose fetch runs this first, by the number of its round.
    private func sync(_ meanwhile: @escaping @Sendable (_ round: Int) async throws -> Void) -> StoreSync {
        let rounds = Locked(0)
        return StoreSync("a") { () -> [String]? in
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            try await meanwhile(round)
            return ["round \(round)"]
        } write: { db, words in
            try Lists.write(words, db)
        }
    }

    private let key = Lists.sync(StubFetch())

    @Test func aSyncThatFetchesAgainEndsTooWhenAllIsCleared() async throws {
        let store = try Store.lists()
        let last = Locked(0)
        let sync = sync { [key] round in
            last.withLock { $0 = round }
            if round == 1 { try await store.clear(key) } else { try await store.clearAll { try Lists.erase($0) } }
        }
        #expect(await code { try await store.sync(sync) } == .cleared)
        #expect(last.withLock { $0 } == 2)
        #expect(try await store.words() == [])
    }

    @Test func aKeyThatIsClearedAgainAndAgainEndsItsSyncWithAnError() async throws {
        let store = try Store.lists()
        let last = Locked(0)
        let sync = sync { [key] round in
            last.withLock { $0 = round }
            try await store.clear(key)
        }
        #expect(await code { try await store.sync(sync) } == .cleared)
        #expect(last.withLock { $0 } == 3)
        #expect(try await store.words() == [])
    }

    // MARK: What is outdated

    private func deliver(_ words: [String], to store: Store) async throws {
        try await store.database.write { db in
            try Lists.write(words, db)
            try store.outdate("a", in: db)
        }
    }

    /// The server has taken a change while it answered with what was there before.
    @Test func whatWasDeliveredDuringASyncIsNotTakenBack() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["before"], ["before", "delivered"])
        fetch.hold()
        let asker = Task { try await store.sync(Lists.sync(fetch)) }
        try await eventually { fetch.running == 1 }
        let recorder = StoreRecorder(store.stream(Lists.query()))
        try await deliver(["delivered"], to: store)
        try await eventually { recorder.values.last == ["delivered"] }
        fetch.release()
        #expect(try await asker.value == .written)
        #expect(fetch.calls == 2)
        try await eventually { recorder.values.last == ["before", "delivered"] }
        #expect(!recorder.values.contains(["before"]))
    }

    @Test func whatIsOutdatedWithoutASyncStaysAsFreshAsItWas() async throws {
        let store = try Store.lists()
        let sync = Lists.sync(StubFetch(["1"]))
        try await store.sync(sync)
        try await deliver(["1", "2"], to: store)
        #expect(try await store.validity(of: sync, maximumAge: .seconds(3600)) == .valid(age: .zero))
        #expect(try await store.record(of: "a").number == 1)
    }

    /// An outbox empties itself while a slow server answers: the sync ends, and the next one is not spared.
    @Test func whatIsOutdatedAgainAndAgainIsWrittenAndNotFresh() async throws {
        let store = try Store.lists()
        let sync = sync { _ in try await store.database.write { try store.outdate("a", in: $0) } }
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: sync))
        try await eventually { recorder.values == [[], ["round \(Store.maximumFetches)"]] && store.syncs.isIdle }
        #expect(try await store.validity(of: sync, maximumAge: .seconds(3600)) == .missing)
        let next = StubFetch(["next"])
        #expect(try await store.sync(Lists.sync(next, minimumInterval: .seconds(3600))) == .written)
    }

    @Test func whereThereIsNoNewsNothingIsTakenBack() async throws {
        let store = try Store.lists()
        let fetch = StubFetch<[String]>(results: [.success(nil)])
        fetch.hold()
        let asker = Task { try await store.sync(Lists.sync(fetch)) }
        try await eventually { fetch.running == 1 }
        try await deliver(["delivered"], to: store)
        fetch.release()
        #expect(try await asker.value == .noNews)
        #expect(fetch.calls == 1)
        #expect(try await store.words() == ["delivered"])
    }

    @Test(arguments: [false, true])
    func whatBecomesOfWhatWasFetched(isLast: Bool) {
        func start(_ number: Int64, _ epoch: Int64, all: Int64 = 0) -> SyncStart {
            var record = SyncRecord(key: "a")
            (record.number, record.epoch) = (number, epoch)
            return SyncStart(record: record, clearings: all)
        }
        func decision(_ now: SyncStart, isNews: Bool = true) -> SyncStart.Decision {
            start(5, 5).decision(at: now, isNews: isNews, isLast: isLast)
        }
        #expect(decision(start(5, 5)) == .write)
        #expect(decision(start(6, 5)) == (isLast ? .writeOutdated : .fetchAgain))  // another process has synced
        #expect(decision(start(6, 5), isNews: false) == .write)
        #expect(decision(start(5, 7)) == (isLast ? .writeOutdated : .fetchAgain))
        #expect(decision(start(5, 7), isNews: false) == .write)
        #expect(decision(start(6, 7)) == .fetchAgain)  // cleared and outdated
        #expect(decision(start(6, 6), isNews: false) == .fetchAgain)
        #expect(decision(start(6, 6, all: 1)) == .giveUp)
        var synced = SyncRecord(key: "a")
        synced.succeededAt = 7
        var migrated = synced
        migrated.forgetSyncs()
        let (before, now) = (SyncStart(record: synced, clearings: 0), SyncStart(record: migrated, clearings: 0))
        #expect(before.decision(at: now, isNews: false, isLast: isLast) == (isLast ? .writeOutdated : .fetchAgain))
        #expect(before.decision(at: now, isNews: true, isLast: isLast) == .write)
    }
}
#endif
