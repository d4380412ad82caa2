// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import Testing
@testable import UplinkStore

/// What a stream shows, without any I/O.
@Suite(.timeLimit(.minutes(1)))
struct StreamMachineTests {
    /// The machine as a reference, and what it tells in words.
    private final class Stream {
        private var machine: StreamMachine<Int>
        private let now = Date(timeIntervalSince1970: 1000)
        private var steps: UInt64 = 0

        init(_ request: StoreRequest = .storedThenRefreshed, minimumInterval: Duration? = .zero, force: Bool = false) {
            machine = StreamMachine(request: request, minimumInterval: minimumInterval, force: force)
        }

        func observed(_ value: Int, after number: Int64 = 0, age: Double? = nil) -> [String] {
            var record = SyncRecord(key: "a")
            record.number = number
            record.succeededAt = age.map { 1000 - $0 }
            return words(machine.observed(.init(value: value, record: record), now: now))
        }

        func readFailed(_ message: String = "", after number: Int64 = 0) -> [String] {
            let error = StoreError(.readFailed, message: message)
            return words(machine.readFailed(.init(error: error, number: number), now: now))
        }
        func reached(_ stage: SyncStage, late: Bool = false) -> [String] {
            steps += late ? 0 : 1
            return words(machine.reached(SyncStep(number: late ? steps - 1 : steps, stage: stage)))
        }
        func succeeded(_ number: Int64) -> [String] {
            words(machine.syncEnded(.success(SyncReceipt(number: number, isNews: true)), now: now))
        }
        func failed() -> [String] {
            words(machine.syncEnded(.failure(StoreError(.fetchFailed, message: "")), now: now))
        }

        private func words(_ actions: [StreamMachine<Int>.Action]) -> [String] {
            actions.map { action in
                switch action {
                case .startSync: "sync"
                case .emit(.waiting): "waiting"
                case .emit(.loading): "loading"
                case .emit(.value(let value, let origin)): origin.isRefreshing ? "\(value)…" : "\(value)"
                case .emit(.noNews): "noNews"
                case .emit(.error(let error)): "\(error.code)"
                }
            }
        }
    }

    @Test func theObservationMayComeBeforeTheOutcomeOrAfterIt() {
        let before = Stream()
        #expect(before.observed(1) == ["1…", "sync"])
        #expect(before.reached(.loading) == ["loading"])
        #expect(before.observed(2, after: 1, age: 0) == ["2"])
        #expect(before.succeeded(1) == [])

        let after = Stream()
        #expect(after.observed(1) == ["1…", "sync"])
        #expect(after.succeeded(1) == [])
        #expect(after.observed(2, after: 1, age: 0) == ["2"])
        #expect(after.observed(3, after: 1, age: 0) == ["3"])
    }

    /// The stream has joined it after its commit, and read that before it heard of the sync.
    @Test func theEndOfASyncIsToldAfterItsStages() {
        for stage in [SyncStage.waiting, .loading] {
            let stream = Stream()
            #expect(stream.observed(1) == ["1…", "sync"])
            #expect(stream.observed(2, after: 1, age: 0) == ["2"])
            #expect(stream.reached(stage) == ["\(stage)"])
            #expect(stream.succeeded(1) == ["noNews"])
        }
    }

    /// It is outdated, and the network goes away before it fetches again.
    @Test func aSyncThatFetchesAgainMayWaitAgain() {
        let stream = Stream()
        #expect(stream.observed(1) == ["1…", "sync"])
        #expect(stream.reached(.loading) == ["loading"])
        #expect(stream.reached(.waiting) == ["waiting"])
        #expect(stream.reached(.loading, late: true) == [])
        #expect(stream.reached(.loading) == ["loading"])
        #expect(stream.reached(.loading) == [])
    }

    @Test func aKeyThatIsClearedMeanwhileIsStillSynced() {
        let stream = Stream()
        #expect(stream.observed(1, after: 1, age: 5) == ["1…", "sync"])
        #expect(stream.observed(0, after: 2) == ["0…"])  // cleared
        #expect(stream.succeeded(3) == [])
        #expect(stream.observed(7, after: 3, age: 0) == ["7"])
    }

    /// What comes after a sync is fresh, also where what the sync itself brought could not be read.
    @Test func aReadThatFailsAfterASyncClosesNoStream() {
        let stream = Stream(.freshOnly)
        #expect(stream.readFailed() == ["readFailed", "sync"])
        #expect(stream.succeeded(6) == [])
        #expect(stream.readFailed() == ["readFailed"])
        #expect(stream.observed(1, after: 6, age: 0) == ["1"])
    }

    @Test func noNewsIsToldOnceWhicheverComesFirst() {
        let before = Stream()
        #expect(before.observed(1) == ["1…", "sync"])
        #expect(before.observed(1, after: 1, age: 0) == [])
        #expect(before.succeeded(1) == ["noNews"])

        let after = Stream()
        #expect(after.observed(1) == ["1…", "sync"])
        #expect(after.succeeded(1) == [])
        #expect(after.observed(1, after: 1, age: 0) == ["noNews"])
        #expect(after.observed(1, after: 2, age: 0) == [])  // another's sync
    }

    /// The first look falls between the commit of a sync that others asked for and its end.
    @Test func aSyncThatIsJoinedAfterItsCommitIsEndedByAnElement() {
        let stream = Stream()
        #expect(stream.observed(1, after: 1, age: 0) == ["1…", "sync"])
        #expect(stream.reached(.loading) == ["loading"])
        #expect(stream.succeeded(1) == ["noNews"])

        let cleared = Stream()
        #expect(cleared.observed(1, after: 2) == ["1…", "sync"])  // cleared after the commit
        #expect(cleared.succeeded(1) == ["noNews"])
    }

    /// Between the commit and its observation comes a change by somebody else that was read before the commit.
    @Test func aChangeThatWasReadBeforeTheCommitDoesNotEndTheSync() {
        let stream = Stream()
        #expect(stream.observed(1) == ["1…", "sync"])
        #expect(stream.succeeded(1) == [])
        #expect(stream.observed(2) == ["2…"])
        #expect(stream.observed(2, after: 1, age: 0) == ["noNews"])
    }

    @Test func stagesAreToldOnceAndOnlyWhenTheyAreNew() {
        let stream = Stream()
        #expect(stream.reached(.loading) == [])  // of somebody else's sync
        #expect(stream.observed(1) == ["1…", "sync"])
        #expect(stream.reached(.starting) == [])
        #expect(stream.reached(.waiting) == ["waiting"])
        #expect(stream.reached(.loading) == ["loading"])
        #expect(stream.reached(.waiting, late: true) == [])
        #expect(stream.failed() == ["fetchFailed"])
        #expect(stream.reached(.loading) == [])
        #expect(stream.failed() == [])
    }

    @Test func freshOnlyOpensWithASuccessWhosoeverItIs() {
        let own = Stream(.freshOnly)
        #expect(own.observed(1, after: 4, age: 9) == ["sync"])
        #expect(own.observed(2, after: 4, age: 9) == [])
        #expect(own.observed(3, after: 5, age: 0) == ["3"])
        #expect(own.succeeded(5) == [])

        let others = Stream(.freshOnly)
        #expect(others.observed(1, after: 4, age: 9) == ["sync"])
        #expect(others.failed() == ["fetchFailed"])
        #expect(others.observed(2, after: 4, age: 9) == [])
        #expect(others.observed(0, after: 5) == [])  // it was cleared
        #expect(others.observed(3, after: 6, age: 0) == ["3"])
    }

    @Test func freshOrStoredFallsBackAfterTheError() {
        let stream = Stream(.freshOrStored)
        #expect(stream.observed(1, after: 4, age: 9) == ["sync"])
        #expect(stream.failed() == ["fetchFailed", "1"])
        #expect(stream.observed(2, after: 4, age: 9) == ["2"])
    }

    @Test func aFirstReadThatFailsDoesNotKeepTheSyncFromRunning() {
        let stream = Stream()
        #expect(stream.readFailed() == ["readFailed", "sync"])
        #expect(stream.observed(2, after: 1, age: 0) == ["2…"])  // whose sync it was cannot be told
        #expect(stream.succeeded(1) == ["noNews"])
    }

    @Test func aFirstReadThatFailsDoesNotMakeWhatIsStoredFresh() {
        let stream = Stream(.freshOnly)
        #expect(stream.readFailed() == ["readFailed", "sync"])
        #expect(stream.observed(1, after: 5, age: 900) == [])
        #expect(stream.observed(2, after: 6, age: 0) == ["2"])
        #expect(stream.succeeded(6) == [])

        let failed = Stream(.freshOnly)
        #expect(failed.readFailed() == ["readFailed", "sync"])
        #expect(failed.failed() == ["fetchFailed"])
        #expect(failed.observed(1, after: 5, age: 900) == [])
        #expect(failed.observed(2, after: 6, age: 0) == ["2"])

        let late = Stream(.freshOnly)
        #expect(late.readFailed() == ["readFailed", "sync"])
        #expect(late.succeeded(6) == [])
        #expect(late.observed(2, after: 6, age: 0) == ["2"])
    }

    @Test func aReadErrorAfterTheSyncEndsTheWait() {
        let stream = Stream()
        #expect(stream.observed(1) == ["1…", "sync"])
        #expect(stream.succeeded(1) == [])
        #expect(stream.readFailed() == ["readFailed"])
        #expect(stream.observed(1, after: 1, age: 0) == ["1"])
        #expect(stream.observed(2, after: 1, age: 0) == ["2"])
    }

    @Test func aReadErrorFromBeforeTheSyncsCommitDoesNotEndTheWait() {
        let stream = Stream()
        #expect(stream.observed(1, after: 4, age: 9) == ["1…", "sync"])
        #expect(stream.readFailed(after: 4) == ["readFailed"])
        #expect(stream.succeeded(5) == [])
        #expect(stream.readFailed(after: 4) == [])
        #expect(stream.observed(2, after: 5, age: 0) == ["2"])
    }

    @Test func aReadErrorIsToldOnceAndItsEndTooWithTheSameValue() {
        let stream = Stream(.storedOnly)
        #expect(stream.observed(1) == ["1"])
        #expect(stream.readFailed() == ["readFailed"])
        #expect(stream.readFailed() == [])
        #expect(stream.readFailed("another") == ["readFailed"])
        #expect(stream.readFailed("another") == [])
        #expect(stream.readFailed() == ["readFailed"])
        #expect(stream.observed(1) == ["1"])
        #expect(stream.observed(1) == [])
        #expect(stream.readFailed() == ["readFailed"])
    }

    /// What it left could not be read, with the error of before.
    @Test func aSyncIsEndedByAnErrorThatWasToldBefore() {
        let stream = Stream()
        #expect(stream.readFailed() == ["readFailed", "sync"])
        #expect(stream.reached(.loading) == ["loading"])
        #expect(stream.readFailed(after: 1) == [])
        #expect(stream.succeeded(1) == ["readFailed"])
        #expect(stream.observed(1, after: 1, age: 0) == ["1"])

        let shown = Stream()
        #expect(shown.observed(1) == ["1…", "sync"])
        #expect(shown.observed(2, after: 1, age: 0) == ["2"])
        #expect(shown.readFailed(after: 1) == ["readFailed"])
        #expect(shown.succeeded(1) == [])
    }

    /// It was outdated when it was written, and counts as never synced.
    @Test func aSyncThatLeavesNothingFreshIsEndedByAnElement() {
        let stream = Stream()
        #expect(stream.observed(1) == ["1…", "sync"])
        #expect(stream.observed(2, after: 1) == ["2…"])
        #expect(stream.succeeded(1) == ["noNews"])

        let late = Stream(.freshOnly)
        #expect(late.observed(1) == ["sync"])
        #expect(late.succeeded(1) == [])
        #expect(late.observed(2, after: 1) == ["2"])
    }

    @Test(
        arguments: [
            (StoreRequest.storedThenRefreshed, nil, true, true), (.storedThenRefreshed, 5, true, false),
            (.storedThenRefreshed, 15, true, true), (.storedOnly, nil, true, false), (.freshOnly, nil, false, true),
            (.freshOnly, 5, true, false), (.freshOnly, 15, false, true), (.freshOrStored, 15, false, true),
            (.storedUnlessOlder(than: .seconds(20)), 15, true, false),
            (.storedUnlessOlder(than: .seconds(20)), 25, false, true),
            (.storedUnlessOlder(than: .seconds(20)), nil, false, true),
            (.storedUnlessOlder(than: .seconds(1)), 5, true, false),
        ] as [(StoreRequest, Int?, Bool, Bool)])
    func plans(request: StoreRequest, age: Int?, showsStored: Bool, syncs: Bool) {
        let age = age.map { Duration.seconds($0) }
        let plan = RequestPlan(request, age: age, minimumInterval: .seconds(10), force: false)
        #expect(plan.showsStored == showsStored)
        #expect(plan.syncs == syncs)
        let without = RequestPlan(request, age: age, minimumInterval: nil, force: true)
        #expect(without.showsStored && !without.syncs)  // there is no sync to wait for
        let forced = RequestPlan(request, age: age, minimumInterval: .seconds(10), force: true)
        #expect(forced.syncs == (request != .storedOnly))
    }

    @Test func aReaderThatIsVerySlowGetsTheNewestOfEachKind() {
        var queue = ElementQueue<Int>()
        let origin = StoreOrigin(nil, now: Date(), isRefreshing: false)
        for round in 0..<1000 {
            queue.append(.loading)
            queue.append(.value(round, origin))
            queue.append(.error(StoreError(.readFailed, message: "\(round)")))
            queue.append(.noNews(origin))
        }
        queue.append(.error(StoreError(.fetchFailed, message: "")))
        let found = drain(&queue)
        #expect(found.suffix(5) == ["loading", "999", "readFailed 999", "noNews", "fetchFailed "])
        #expect(found.count <= ElementQueue<Int>.limit + 5)
    }

    @Test func aReaderThatIsSlowGetsAll() {
        var queue = ElementQueue<Int>()
        let origin = StoreOrigin(nil, now: Date(), isRefreshing: false)
        for round in 0..<ElementQueue<Int>.limit { queue.append(.value(round, origin)) }
        #expect(drain(&queue) == (0..<ElementQueue<Int>.limit).map { "\($0)" })
    }

    private func drain(_ queue: inout ElementQueue<Int>) -> [String] {
        var found: [String] = []
        while let element = queue.popFirst() {
            switch element {
            case .waiting: found.append("waiting")
            case .loading: found.append("loading")
            case .value(let value, _): found.append("\(value)")
            case .noNews: found.append("noNews")
            case .error(let error): found.append("\(error.code) \(error.message)")
            }
        }
        return found
    }
}
#endif
