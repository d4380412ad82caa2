// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation

/// A stream's state machine, which decides what it shows of the database and of its sync.
struct StreamMachine<Value: Equatable & Sendable> {
    /// What was read at one moment: the query's answer, and what was known about the key's syncs.
    struct Snapshot {
        let value: Value
        let record: SyncRecord?
        var number: Int64 { record?.number ?? 0 }
    }

    /// Why the read failed, and the record's number at that moment; zero if that is not known.
    struct ReadFailure: Error {
        let error: StoreError
        var number: Int64 = 0
    }

    enum Action {
        /// Deliver this element, behind all others.
        case emit(StoreElement<Value>)
        /// Ask for the sync, and report its stages and its end.
        case startSync
    }

    private enum SyncState: Equatable {
        /// Nothing has been read yet; what is found decides whether to sync.
        case undecided
        /// Asked for when the record's number was `baseline` (nil: not read yet); `step` was reported last.
        case running(baseline: Int64?, step: SyncStep)
        /// It succeeded and left this number, which has not been read yet.
        case awaiting(Int64, baseline: Int64?)
        /// It has ended, or there was none to make.
        case over
    }

    let request: StoreRequest
    /// The sync's minimum interval; nil without a sync.
    let minimumInterval: Duration?
    let force: Bool

    private var sync = SyncState.undecided
    /// Whether the stream is open, so that values are shown: if only fresh ones are wanted, not before a sync.
    private var isOpen = false
    /// The record's number at the first successful read; a sync that succeeds after it opens a closed stream, whoever
    /// asked for it.
    private var first: Int64?
    private var latest: Snapshot?
    /// The value shown last, the number of its snapshot, and whether it was shown as still refreshing.
    private var shown: (value: Value, number: Int64, isRefreshing: Bool)?
    /// Why the last read failed; nil when it has not.
    private var failure: ReadFailure?

    init(request: StoreRequest, minimumInterval: Duration?, force: Bool) {
        self.request = request
        self.minimumInterval = minimumInterval
        self.force = force
    }

    /// Records that the database was read, after a change or for the first time.
    mutating func observed(_ snapshot: Snapshot, now: Date) -> [Action] {
        let decision = decide(snapshot.record, now: now)
        if failure != nil { (failure, shown) = (nil, nil) }  // shows that all is well again, even with the same value
        latest = snapshot
        let first = self.first ?? begin(at: snapshot.number)
        if !isOpen, snapshot.number > first, snapshot.record?.succeededAt != nil { isOpen = true }
        var actions = show(now)
        if case .awaiting(let number, let baseline) = sync, snapshot.number >= number {
            actions += settle(number, since: baseline, now)
        }
        return actions + decision
    }

    /// Records that the database could not be read. That is reported once, not with every commit.
    mutating func readFailed(_ failure: ReadFailure, now: Date) -> [Action] {
        let decision = decide(nil, now: now)
        let known = self.failure?.error
        let isKnown = known?.code == failure.error.code && known?.message == failure.error.message
        self.failure = failure
        // Zero where the record could not be read either.
        if case .awaiting(let number, _) = sync, failure.number == 0 || failure.number >= number {
            return settle(failure) + decision
        }
        return (isKnown ? [] : [.emit(.error(failure.error))]) + decision
    }

    /// Records how far the sync is; what is no longer so may come late. A sync that fetches again may have to wait
    /// again.
    mutating func reached(_ step: SyncStep) -> [Action] {
        guard case .running(let baseline, let last) = sync, step.number > last.number else { return [] }
        sync = .running(baseline: baseline, step: step)
        guard step.stage != last.stage else { return [] }
        switch step.stage {
        case .starting: return []
        case .waiting, .loading:
            shown?.isRefreshing = true  // so that the end of this is reported, even if it brings nothing else
            return [.emit(step.stage == .waiting ? .waiting : .loading)]
        }
    }

    /// Records that the sync has ended.
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

    /// At the first read, decides whether to sync, and whether to show the stored data before that.
    private mutating func decide(_ record: SyncRecord?, now: Date) -> [Action] {
        guard sync == .undecided else { return [] }
        let plan = RequestPlan(
            request, age: SyncAge.of(record, now: now), minimumInterval: minimumInterval, force: force)
        isOpen = plan.showsStored
        sync = plan.syncs ? .running(baseline: nil, step: .first) : .over
        return plan.syncs ? [.startSync] : []
    }

    /// Records the first successful read: what comes after it is new.
    private mutating func begin(at number: Int64) -> Int64 {
        first = number
        switch sync {
        case .running(_, let step): sync = .running(baseline: number, step: step)
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

    /// Ends the sync, because what it left has been read. A value shown since the sync was asked for, and not as still
    /// refreshing, shows the end by itself. Otherwise "no news" follows: a value from before, as when the stream joins
    /// an earlier sync after its commit, would leave a spinner turning.
    private mutating func settle(_ number: Int64, since baseline: Int64?, _ now: Date) -> [Action] {
        sync = .over
        isOpen = true
        let actions = show(now)
        if let shown, shown.number >= number, shown.number > baseline ?? -1, !shown.isRefreshing { return actions }
        return actions + [.emit(.noNews(origin(now)))]
    }

    /// Ends the sync, because what it left cannot be read. The reason is reported even if it was reported before; later
    /// values are shown.
    private mutating func settle(_ failure: ReadFailure) -> [Action] {
        (sync, isOpen) = (.over, true)
        return [.emit(.error(failure.error))]
    }

    private func origin(_ now: Date) -> StoreOrigin {
        let isRefreshing =
            switch sync {
            case .undecided, .over: false
            case .running(let baseline, _):
                // If the number has risen without a success, the key was cleared, and its sync fetches again; or what
                // was written was outdated, and then "no news" ends the sync.
                (latest?.number ?? 0) <= baseline ?? .max || latest?.record?.succeededAt == nil
            case .awaiting(let number, _): (latest?.number ?? 0) < number
            }
        return StoreOrigin(latest?.record, now: now, isRefreshing: isRefreshing)
    }
}
#endif
