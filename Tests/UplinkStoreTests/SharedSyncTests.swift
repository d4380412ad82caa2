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

/// One sync of a key at a time, shared by all who ask.
@Suite(.timeLimit(.minutes(1)))
struct SharedSyncTests {
    /// Its fetch may not heed cancellation, and go on for long.
    @Test func aSyncThatWasGivenUpIsNotSpokenOf() {
        var board = StageBoard()
        let asker = board.listen(to: "a") { _ in }
        let old = board.begin("a")
        #expect(board.reached(.loading, "a", old).listeners.count == 1)
        let second = board.listen(to: "a") { _ in }
        #expect(second.step?.stage == .loading)
        board.ignore(asker.id, "a")
        #expect(board.stage(of: "a") == .loading)  // the other one still asks
        board.ignore(second.id, "a")
        #expect(board.stage(of: "a") == nil)
        #expect(board.isEmpty)
        let next = board.listen(to: "a") { _ in }
        #expect(next.step == nil)
        #expect(board.reached(.loading, "a", old).listeners.isEmpty)
        let new = board.begin("a")
        board.end("a", old)
        #expect(board.reached(.waiting, "a", new).listeners.count == 1)
        #expect(board.stage(of: "a") == .waiting)
    }

    @Test func sixtyFourAskersShareOneFetch() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        fetch.hold()
        let recorders = (0..<64).map { _ in StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch))) }
        try await eventually { recorders.allSatisfy { $0.words == ["value([])", "loading"] } }
        #expect(fetch.calls == 1)
        fetch.release()
        try await eventually { recorders.allSatisfy { $0.values == [[], ["new"]] } }
        try await eventually { store.syncs.isIdle }
        #expect(fetch.calls == 1)
        #expect(try await store.record(of: "a").number == 1)
    }

    /// In the database each has a record of its own; for Swift, the strings are equal.
    @Test func keysThatOnlyLookTheSameAreNotShared() async throws {
        let store = try Store.lists()
        let fetches = [StubFetch(["one scalar"]), StubFetch(["two scalars"])]
        for fetch in fetches { fetch.hold() }
        let recorders = zip(["caf\u{e9}", "cafe\u{301}"], fetches).map { key, fetch in
            StoreRecorder(store.stream(Lists.query(key), sync: Lists.sync(fetch, key)))
        }
        try await eventually { fetches.allSatisfy { $0.running == 1 } }
        for fetch in fetches { fetch.release() }
        try await eventually { recorders.map(\.values.last) == [["one scalar"], ["two scalars"]] }
        try await eventually { store.syncs.isIdle }
    }

    @Test func theOutcomeIsSharedAlsoAnError() async throws {
        let store = try Store.lists()
        let fetch = StubFetch<[String]>(results: [.failure(Broken())])
        fetch.hold()
        let recorders = (0..<8).map { _ in StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch))) }
        try await eventually { recorders.allSatisfy { $0.words.contains("loading") } }
        fetch.release()
        try await eventually { recorders.allSatisfy { $0.errors.map(\.code) == [.fetchFailed] } }
        #expect(fetch.calls == 1)
    }

    @Test func theSharedSyncCoversTheWrite() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        let (isWriting, mayWrite) = (Locked(false), Locked(false))
        let sync = StoreSync("a") {
            try await fetch()
        } write: { db, words in
            isWriting.withLock { $0 = true }
            while !mayWrite.withLock({ $0 }) { usleepBriefly() }  // on GRDB's own thread
            try Lists.write(words, db)
        }
        let first = Task { try await store.sync(sync) }
        try await eventually { isWriting.withLock { $0 } }
        let second = Task { try await store.sync(sync) }
        try await eventually { store.syncs.waiting == 2 }
        #expect(fetch.calls == 1)
        mayWrite.withLock { $0 = true }
        #expect(try await first.value == .written)
        #expect(try await second.value == .written)
        #expect(fetch.calls == 1)
    }

    @Test(arguments: [Result<[String]?, any Error>.success(["x"]), .success(nil), .failure(Broken())])
    func itIsReleasedAfterEachOutcome(_ outcome: Result<[String]?, any Error>) async throws {
        let store = try Store.lists()
        let fetch = StubFetch(results: [outcome])
        for round in 1...3 {
            _ = try? await store.sync(Lists.sync(fetch))
            #expect(store.syncs.isIdle)
            #expect(fetch.calls == round)
        }
    }

    @Test func theLastAskerThatLeavesCancelsIt() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        fetch.hold()
        let askers = (0..<3).map { _ in Task { try await store.sync(Lists.sync(fetch)) } }
        try await eventually { fetch.running == 1 && store.syncs.waiting == 3 }
        askers[0].cancel()
        askers[1].cancel()
        for asker in askers[..<2] {
            await #expect(throws: CancellationError.self) { try await asker.value }
        }
        #expect(fetch.running == 1)
        askers[2].cancel()
        await #expect(throws: CancellationError.self) { try await askers[2].value }
        try await eventually { fetch.running == 0 && store.syncs.isIdle }
        fetch.release()
        #expect(try await store.sync(Lists.sync(fetch)) == .written)
        #expect(fetch.calls == 2)
    }

    @Test func aCancelledSyncWritesNothing() async throws {
        let store = try Store.lists()
        let fetched = Locked(false)
        let sync = StoreSync("a") {
            fetched.withLock { $0 = true }
            while !Task.isCancelled { await Task.yield() }
            return ["too late"]  // it does not care that it was cancelled
        } write: { db, words in
            try Lists.write(words, db)
        }
        let asker = Task { try await store.sync(sync) }
        try await eventually { fetched.withLock { $0 } }
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        #expect(try await store.sync(Lists.sync(StubFetch(["next"]))) == .written)
        #expect(try await store.words() == ["next"])
        #expect(try await store.record(of: "a").number == 1)
    }

    @Test func whoIsCancelledBeforeTheCallFetchesNothing() async throws {
        let (store, fetch) = (try Store.lists(), StubFetch(["x"]))
        let asker = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.sync(Lists.sync(fetch))
        }
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        #expect(fetch.calls == 0)
    }

    /// Not as if the caller had been cancelled.
    @Test func aWriteThatThrowsACancellationHasFailed() async throws {
        let store = try Store.lists()
        let sync = StoreSync("a", fetch: { 1 }) { _, _ in throw CancellationError() }
        let error = await #expect(throws: StoreError.self) { try await store.sync(sync) }
        #expect(error?.code == .writeFailed && error?.underlyingError is CancellationError)
    }

    @Test func otherKeysHaveSyncsOfTheirOwn() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        fetch.hold()
        let askers = ["a", "b", "c"].map { key in Task { try await store.sync(Lists.sync(fetch, key)) } }
        try await eventually { fetch.running == 3 }
        fetch.release()
        for asker in askers { #expect(try await asker.value == .written) }
    }

    /// A key's sync that was given up may still unwind while the next one runs; it is not spoken of any more.
    @Test func stagesOfASyncThatWasGivenUpAreNotTold() {
        var board = StageBoard()
        let told = Locked<[SyncStage]>([])
        let (id, none) = board.listen(to: "a") { step in told.withLock { $0.append(step.stage) } }
        #expect(none == nil)
        let old = board.begin("a")
        let new = board.begin("a")
        #expect(board.reached(.loading, "a", old).listeners.isEmpty)
        board.end("a", old)
        #expect(board.stage(of: "a") == .starting)
        #expect(board.reached(.waiting, "a", new).listeners.count == 1)
        #expect(board.stage(of: "a") == .waiting)
        board.end("a", new)
        board.ignore(id, "a")
        #expect(board.isEmpty)
    }

    /// Each looks before it asks, and the first sync may have ended in between.
    @Test func whoComesAsASyncEndsFetchesNothing() async throws {
        let store = try Store.lists()
        for round in 0..<40 {
            let fetch = StubFetch(["new"])
            let sync = Lists.sync(fetch, "\(round)", minimumInterval: .seconds(3600))
            await withTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        for _ in 0..<number * 20 { await Task.yield() }
                        _ = try? await store.sync(sync)
                    }
                }
            }
            #expect(fetch.calls == 1)
        }
    }

    /// A forced sync, and one that wants newer data, are not content with what the first caller was.
    @Test func whoWantsNewerDataIsNotGivenWhatWasRecentEnoughForAnother() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        let sync = Lists.sync(fetch, minimumInterval: .seconds(3600))
        #expect(try await store.sync(sync) == .written)
        for force in [false, true] {
            let receipt = try await store.join(sync, unlessYoungerThan: force ? .zero : .seconds(3600)) { _ in }
            #expect((receipt.age == nil) == force)
        }
        #expect(fetch.calls == 2)
    }

    /// It joins a sync that ends because the last one was recent enough for its first caller.
    @Test func whoForcesASyncFetchesThoughItJoinedOneThatDidNot() async throws {
        let store = try Store.lists()
        let fetch = StubFetch(["new"])
        let sync = Lists.sync(fetch, minimumInterval: .seconds(3600))
        #expect(try await store.sync(sync) == .written)
        let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Task.detached {  // no one reads meanwhile
            try await store.database.write { _ in
                began.signal()
                mayEnd.wait()
            }
        }
        await Task.detached { waitFor(began) }.value
        let content = Task { try await store.join(sync, unlessYoungerThan: .seconds(3600)) { _ in } }
        try await eventually { store.syncs.waiting == 1 }
        let forced = Task { try await store.join(sync, unlessYoungerThan: .zero) { _ in } }
        try await eventually { store.syncs.waiting == 2 }
        mayEnd.signal()
        #expect(try await content.value.age != nil)
        #expect(try await forced.value.age == nil)
        try await holder.value
        #expect(fetch.calls == 2)
    }

    @Test func validityKnowsOfASyncThatEndsMeanwhile() async throws {
        let store = try Store.lists()
        for round in 0..<20 {
            let fetch = StubFetch(["new"])
            let sync = Lists.sync(fetch, "\(round)")
            let begun = Task { try await store.sync(sync) }
            try await eventually { fetch.calls == 1 }
            for _ in 0..<50 {
                let validity = try await store.validity(of: sync, maximumAge: .seconds(3600))
                #expect(validity != .missing)
            }
            _ = try await begun.value
        }
    }
}

/// Blocks a thread of the pool.
private func waitFor(_ semaphore: DispatchSemaphore) { semaphore.wait() }
#endif
