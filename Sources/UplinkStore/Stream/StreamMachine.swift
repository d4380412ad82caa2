// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation

/// What a stream shows of the database and of its sync: its state machine.
struct StreamMachine<Value: Equatable & Sendable> {
    /// What was read at one moment: the query's answer, and what was known of the key's syncs.
    struct Snapshot {
        let value: Value
        let record: SyncRecord?
        var number: Int64 { record?.number ?? 0 }
    }

    /// Why it could not be read, and the record's number at that moment; zero where that is not known.
    struct ReadFailure: Error {
        let error: StoreError
        var number: Int64 = 0
    }

    enum Action {
        /// To be delivered, behind all others.
        case emit(StoreElement<Value>)
        /// The sync is to be asked for; its stages and its end are to be told.
        case startSync
    }

    private enum SyncState: Equatable {
        /// Nothing was read yet; what is found decides whether to sync.
        case undecided
        /// Asked for when the record had `baseline` as its number (nil: not read yet); the last stage that was told.
        case running(baseline: Int64?, stage: SyncStage)
        /// It succeeded and left this number, which was not read yet.
        case awaiting(Int64, baseline: Int64?)
        /// It has ended, or none was wanted.
        case over
    }

    let request: StoreRequest
    /// The sync's, or nil without a sync.
    let minimumInterval: Duration?
    let force: Bool

    private var sync = SyncState.undecided
    /// Whether values are shown: not before a sync where only fresh ones are wanted.
    private var isOpen = false
    /// The record's number at the first read that went well; a success after it opens a closed stream, whoever asked.
    private var first: Int64?
    private var latest: Snapshot?
    /// The value that was shown last, the number of its snapshot, and whether a refresh was said to be still to come.
    private var shown: (value: Value, number: Int64, isRefreshing: Bool)?
    /// Why the last read failed; nil when it has not.
    private var failure: ReadFailure?

    init(request: StoreRequest, minimumInterval: Duration?, force: Bool) {
        self.request = request
        self.minimumInterval = minimumInterval
        self.force = force
    }

    /// The database was read, after a change or for the first time.
    mutating func observed(_ snapshot: Snapshot, now: Date) -> [Action] {
        let decision = decide(snapshot.record, now: now)
        if failure != nil { (failure, shown) = (nil, nil) }  // that all is well again is told, with the same value too
        latest = snapshot
        let first = self.first ?? begin(at: snapshot.number)
        if !isOpen, snapshot.number > first, snapshot.record?.succeededAt != nil { isOpen = true }
        var actions = show(now)
        if case .awaiting(let number, let baseline) = sync, snapshot.number >= number {
            actions += settle(number, since: baseline, now)
        }
        return actions + decision
    }

    /// The database could not be read. That is told once, and not with every commit.
    mutating func readFailed(_ failure: ReadFailure, now: Date) -> [Action] {
        let decision = decide(nil, now: now)
        let known = self.failure?.error
        let isKnown = known?.code == failure.error.code && known?.message == failure.error.message
        self.failure = failure
        if case .awaiting = sync { return settle(failure) + decision }
        return (isKnown ? [] : [.emit(.error(failure.error))]) + decision
    }

    /// The sync has come this far; told in any order.
    mutating func reached(_ stage: SyncStage) -> [Action] {
        guard case .running(let baseline, let last) = sync, stage > last else { return [] }
        sync = .running(baseline: baseline, stage: stage)
        return switch stage {
        case .starting: []
        case .waiting: [.emit(.waiting)]
        case .loading: [.emit(.loading)]
        }
    }

    /// The sync has ended.
    mutating func syncEnded(_ result: Result<SyncReceipt, StoreError>, now: Date) -> [Action] {
        guard case .running(let baseline, _) = sync else { return [] }
        switch result {
        case .success(let receipt):
            sync = .awaiting(receipt.number, baseline: baseline)
            if let latest, latest.number >= receipt.number { return settle(receipt.number, since: baseline, now) }
            if let failure, failure.number >= receipt.number { return settle(failure) }
            return []
        case .failure(let error):
            sync = .over
            if request == .freshOrStored { isOpen = true }
            return [.emit(.error(error))] + show(now)
        }
    }

    /// The first look tells whether to sync, and whether what is stored is shown before.
    private mutating func decide(_ record: SyncRecord?, now: Date) -> [Action] {
        guard sync == .undecided else { return [] }
        let plan = RequestPlan(
            request, age: SyncAge.of(record, now: now), minimumInterval: minimumInterval, force: force)
        isOpen = plan.showsStored
        sync = plan.syncs ? .running(baseline: nil, stage: .starting) : .over
        return plan.syncs ? [.startSync] : []
    }

    /// The first read that went well: what comes after it is new.
    private mutating func begin(at number: Int64) -> Int64 {
        first = number
        switch sync {
        case .running(_, let stage): sync = .running(baseline: number, stage: stage)
        case .undecided, .awaiting, .over: break
        }
        return number
    }

    /// Shows the latest value if it is to be shown and differs from the last one.
    private mutating func show(_ now: Date) -> [Action] {
        guard isOpen, let latest, latest.value != shown?.value else { return [] }
        let origin = origin(now)
        shown = (latest.value, latest.number, origin.isRefreshing)
        return [.emit(.value(latest.value, origin))]
    }

    /// What the sync left has been read. A value tells so only if it was shown since the sync was asked for, and not as one
    /// that is still refreshed: what was there before, as when an earlier asker's sync is joined after its commit, leaves a
    /// spinner turning.
    private mutating func settle(_ number: Int64, since baseline: Int64?, _ now: Date) -> [Action] {
        sync = .over
        isOpen = true
        let actions = show(now)
        if let shown, shown.number >= number, shown.number > baseline ?? -1, !shown.isRefreshing { return actions }
        return actions + [.emit(.noNews(origin(now)))]
    }

    /// What the sync left cannot be shown now, and this is why, also if it was told before; what comes after it can.
    private mutating func settle(_ failure: ReadFailure) -> [Action] {
        (sync, isOpen) = (.over, true)
        return [.emit(.error(failure.error))]
    }

    private func origin(_ now: Date) -> StoreOrigin {
        let isRefreshing =
            switch sync {
            case .undecided, .over: false
            case .running(let baseline, _):
                // A number that has risen without a success is that of a key that was cleared, whose sync fetches again; or
                // of what was outdated when it was written, and then "no news" ends the sync.
                (latest?.number ?? 0) <= baseline ?? .max || latest?.record?.succeededAt == nil
            case .awaiting(let number, _): (latest?.number ?? 0) < number
            }
        return StoreOrigin(latest?.record, now: now, isRefreshing: isRefreshing)
    }
}
#endif
