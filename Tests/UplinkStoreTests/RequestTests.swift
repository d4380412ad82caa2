// SPDX-License-Identifier: Apache-2.0
#if Store
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    private let wall = WallClock()
    private let fetch = StubFetch(["new"])

    private func stored(_ age: Double) async throws -> Store {
        let store = try Store.lists(wall: wall)
        try await store.sync(Lists.sync(StubFetch(["old"])))
        wall.move(by: age)
        return store
    }

    private func broken() -> StubFetch<[String]> { StubFetch(results: [.failure(Broken())]) }

    @Test func storedOnlyDoesNotSync() async throws {
        let store = try await stored(1)
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(fetch), request: .storedOnly))
        try await eventually { recorder.values == [["old"]] }
        try await store.write(["changed"])
        try await eventually { recorder.values == [["old"], ["changed"]] }
        #expect(fetch.calls == 0)
    }

    @Test func freshOnlyShowsNothingBeforeTheSync() async throws {
        let store = try await stored(1)
        fetch.hold()
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch), request: .freshOnly))
        try await eventually { recorder.words == ["loading"] }
        try await store.write(["meanwhile"])
        fetch.release()
        try await eventually { recorder.words == ["loading", "value([\"new\"])"] }
    }

    @Test func freshOnlyShowsDataThatIsTheSameAsBefore() async throws {
        let store = try await stored(1)
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(StubFetch(["old"])), request: .freshOnly))
        try await eventually { recorder.values == [["old"]] }
        #expect(!recorder.words.contains("noNews"))
    }

    @Test func freshOnlyTellsTheErrorAndShowsWhatALaterSyncBrings() async throws {
        let store = try await stored(1)
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(broken()), request: .freshOnly))
        try await eventually { recorder.errors.count == 1 }
        #expect(recorder.values == [])
        try await store.sync(Lists.sync(fetch))
        try await eventually { recorder.values == [["new"]] }
    }

    @Test func freshOrStoredFallsBack() async throws {
        let store = try await stored(1)
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(broken()), request: .freshOrStored))
        try await eventually { recorder.values == [["old"]] }
        #expect(recorder.words == ["loading", "error(fetchFailed)", "value([\"old\"])"])
    }

    @Test(arguments: [(59.0, false), (61.0, true), (-5.0, true)])
    func storedUnlessOlder(age: Double, syncs: Bool) async throws {
        let store = try await stored(age)
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(fetch), request: .storedUnlessOlder(than: .seconds(60))))
        try await eventually { recorder.values == [syncs ? ["new"] : ["old"]] }
        #expect(fetch.calls == (syncs ? 1 : 0))
    }

    @Test func withinTheMinimumIntervalNothingIsFetchedUnlessForced() async throws {
        let store = try await stored(9)
        let sync = Lists.sync(fetch, minimumInterval: .seconds(10))
        #expect(try await store.sync(sync) == .recent(age: .seconds(9)))
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: sync))
        try await eventually { recorder.values == [["old"]] }
        #expect(fetch.calls == 0)
        let forced = StoreRecorder(store.stream(Lists.query(), sync: sync, force: true))
        try await eventually { forced.values == [["old"], ["new"]] }
        wall.move(by: 11)
        #expect(try await store.sync(sync) == .written)
        #expect(fetch.calls == 2)
    }

    @Test func aClockThatWasSetBackDoesNotKeepASyncFromRunning() async throws {
        let store = try await stored(-3600)
        let sync = Lists.sync(fetch, minimumInterval: .seconds(10))
        #expect(try await store.sync(sync) == .written)
    }

    @Test func validityKnowsOfASyncInProgress() async throws {
        let store = try await stored(30)
        let sync = Lists.sync(fetch)
        #expect(try await store.validity(of: sync, maximumAge: .seconds(60)) == .valid(age: .seconds(30)))
        #expect(try await store.validity(of: sync, maximumAge: .seconds(10)) == .stale(age: .seconds(30)))
        #expect(try await store.validity(of: Lists.sync(fetch, "b"), maximumAge: .seconds(10)) == .missing)
        fetch.hold()
        let running = Task { try await store.sync(sync) }
        try await eventually { fetch.running == 1 }
        #expect(try await store.validity(of: sync, maximumAge: .seconds(10)) == .refreshing(.loading))
        #expect(try await store.validity(of: sync, maximumAge: .seconds(60)) == .valid(age: .seconds(30)))
        fetch.release()
        _ = try await running.value
        #expect(try await store.validity(of: sync, maximumAge: .seconds(10)) == .valid(age: .zero))
    }

    @Test func aWaitThatEndsInVainIsAnErrorAndTheValueStaysReadable() async throws {
        let store = try Store.lists(performer: StubNetworkOperationPerformer(.timesOut))
        try await store.write(["old"])
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch)))
        try await eventually { recorder.errors.count == 1 }
        #expect(recorder.words == ["value([\"old\"])", "waiting", "error(networkUnavailable)"])
        #expect(fetch.calls == 0)
    }

    /// The network is there.
    @Test func aPerformerThatIsBusyIsNotTheNetworkThatIsWaitedFor() async throws {
        let busy = NetworkOperationError(.timedOut, missing: .slot, message: "too many operations (a test)")
        let performer = StubNetworkOperationPerformer(.fails(busy))
        let store = try Store.lists(performer: performer)
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch)))
        try await eventually { recorder.errors.count == 1 }
        #expect(recorder.words == ["value([])", "error(networkUnavailable)"])
        #expect(performer.calls.map(\.seconds) == [0, 30])
    }

    /// As after a migration.
    @Test func whatCountsAsNeverSyncedIsShownOfflineToWhoAsksForWhatIsStored() async throws {
        let store = try Store.lists(performer: StubNetworkOperationPerformer(.timesOut))
        try await store.write(["old"])
        let young = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(fetch), request: .storedUnlessOlder(than: .seconds(3600))))
        try await eventually { young.errors.count == 1 }
        #expect(young.words == ["waiting", "error(networkUnavailable)"])
        let stored = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(fetch), request: .freshOrStored))
        try await eventually { stored.values == [["old"]] }
        #expect(stored.words == ["waiting", "error(networkUnavailable)", "value([\"old\"])"])
    }

    @Test func offlineMeansWaitingAndTheSyncGoesThroughWhenTheNetworkComes() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let clock = ManualClock()
        let store = try Store.lists(performer: NetworkOperationPerformer(monitor: monitor, clock: clock))
        try await store.write(["old"])
        let sync = Lists.sync(fetch, networkLimit: .seconds(60))
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: sync))
        try await eventually { recorder.words == ["value([\"old\"])", "waiting"] }
        try await store.write(["edited offline"])
        try await eventually { recorder.values.last == ["edited offline"] }
        try await clock.waitForSleepers(patience: .seconds(30))
        try await clock.advance(by: .seconds(59))
        monitor.goOnline()
        try await eventually { recorder.values.last == ["new"] }
        #expect(fetch.calls == 1)
        #expect(recorder.words[3] == "loading")
    }

    @Test func aNetworkThatComesTooLateIsAnError() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let clock = ManualClock()
        let store = try Store.lists(performer: NetworkOperationPerformer(monitor: monitor, clock: clock))
        let recorder = StoreRecorder(
            store.stream(Lists.query(), sync: Lists.sync(fetch, networkLimit: .seconds(60))))
        try await eventually { recorder.words.last == "waiting" }
        try await clock.waitForSleepers(patience: .seconds(30))
        try await clock.advance(by: .seconds(61))
        try await eventually { recorder.errors.first?.code == .networkUnavailable }
        monitor.goOnline()
        #expect(fetch.calls == 0)
    }
}
#endif
