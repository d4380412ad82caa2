// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import UplinkCore

@testable import UplinkStore

/// A stream of the store: `StreamMachine` and `ElementQueue` with a database, a sync and a reader that are models.
/// Commits are told in their order, though not each of them; the sync's stages and its end come before or after what it
/// wrote.
final class StreamWorld: World {
    let dice: Dice
    private var machine: StreamMachine<Int>
    private var queue = ElementQueue<Int>()
    private var wallClock = Date(timeIntervalSince1970: 1_000_000)
    /// What is stored, and the states of the database that were not told yet.
    private var (value, record) = (0, SyncRecord(key: "k", id: 1))
    private var untold: [StreamMachine<Int>.Snapshot] = []
    /// The sync that the stream has asked for.
    private var sync: Sync?
    /// The number of the state that was told last.
    private var lastRead: Int64 = -1
    /// The number of the state that was read last, though in vain.
    private var lastFailure: Int64 = -1
    /// A read has failed since the last one that went well; and that is told, so that a value is told twice.
    private var (hasFailed, mayRepeat) = (false, false)

    // What the stream has told.
    private var shown: (value: Int, number: Int64)?
    private var isWaiting = false
    private var lastOfAll: StoreElement<Int>?
    /// The number of the newest step of the sync.
    private var steps: UInt64 = 0
    /// Whether a stage of the sync was told last, and not yet its end.
    private var isSpinning = false
    /// How often the sync's end was told: with a value, with "no news", with an error.
    private var ends = 0
    /// An error was told after the sync's end: there is nothing more to say of it.
    private var isSettled = false

    private enum Sync {
        case asked, running
        case written(SyncReceipt)
        case over(SyncReceipt?)

        var isOver: Bool { if case .over = self { true } else { false } }
        var receipt: SyncReceipt? { if case .over(let receipt) = self { receipt } else { nil } }
    }

    init(_ dice: Dice) {
        self.dice = dice
        let requests: [StoreRequest] = [
            .storedThenRefreshed, .storedOnly, .freshOnly, .freshOrStored, .storedUnlessOlder(than: .seconds(60)),
        ]
        machine = StreamMachine(
            request: dice.pick(requests), minimumInterval: dice.pick([nil, .zero, .seconds(30)]),
            force: dice.isOne(in: 3))
        if dice.isOne(in: 2) { commit("an earlier sync") { $0.succeededAt = self.wallClock.timeIntervalSince1970 } }
        untold = [snapshot]
    }

    private var snapshot: StreamMachine<Int>.Snapshot { .init(value: value, record: record) }

    // MARK: What happens

    func step() throws {
        switch dice.roll(10) {
        case 0: commit("somebody writes") { _ in self.value = self.dice.roll(4) }
        case 1:
            commit("somebody else syncs") {
                $0.number += 1
                $0.succeededAt = self.wallClock.timeIntervalSince1970
                self.value = self.dice.roll(4)
            }
        case 2:
            guard dice.isOne(in: 4) else { break }
            commit("it is cleared") {
                $0.clear()
                self.value = 0
            }
        case 3: wallClock += Double(dice.roll(200) - 60)
        case 4: read()
        case 5, 6: try goOnSyncing(mayFail: true)
        default: try tellOfTheDatabase()
        }
    }

    private func commit(_ what: String, _ change: (inout SyncRecord) -> Void) {
        change(&record)
        dice.tell("\(what): \(value), number \(record.number)")
        untold.append(snapshot)
    }

    /// An observation may leave out states that another one has followed.
    private func tellOfTheDatabase() throws {
        guard !untold.isEmpty else { return }
        let place = dice.isOne(in: 2) ? 0 : dice.roll(untold.count)
        let snapshot = untold[place]
        untold.removeFirst(place + 1)
        if dice.isOne(in: 12) {
            dice.tell("number \(snapshot.number) cannot be read")
            (hasFailed, lastFailure) = (true, snapshot.number)
            let error = StoreError(.readFailed, message: dice.pick(["simulated", "another"]))
            return try perform(machine.readFailed(.init(error: error, number: snapshot.number), now: wallClock))
        }
        dice.tell("the stream is told of \(snapshot.value), number \(snapshot.number)")
        lastRead = snapshot.number
        try observe(snapshot)
    }

    private func observe(_ snapshot: StreamMachine<Int>.Snapshot) throws {
        (mayRepeat, hasFailed) = (hasFailed, false)
        try perform(machine.observed(snapshot, now: wallClock))
        mayRepeat = false
    }

    private func goOnSyncing(mayFail: Bool) throws {
        switch sync {
        case nil, .over: break
        case .asked, .running:
            switch dice.roll(5) {
            case 0: try reach(.starting)
            case 1: try reach(.waiting)
            case 2: try reach(.loading)
            case 3 where mayFail:
                sync = .over(nil)
                let error = StoreError(.fetchFailed, message: "simulated")
                try perform(machine.syncEnded(.failure(error), now: wallClock))
                let isToShow = machine.request == .freshOrStored && lastRead >= 0
                try hold(!isToShow || shown != nil, "nothing fresh will come, and what is stored is not shown")
            default:
                commit("the sync writes") {
                    $0.number += 1
                    $0.succeededAt = self.wallClock.timeIntervalSince1970
                    if self.dice.isOne(in: 2) { self.value = self.dice.roll(4) }
                }
                sync = .written(SyncReceipt(number: record.number, isNews: true))
            }
        case .written where dice.isOne(in: 3): try reach(.loading)  // which was so, when the stream joined it
        case .written(let receipt):
            sync = .over(receipt)
            dice.tell("the sync has ended with number \(receipt.number)")
            try perform(machine.syncEnded(.success(receipt), now: wallClock))
        }
    }

    /// A step is reported, perhaps late.
    private func reach(_ stage: SyncStage) throws {
        steps += dice.isOne(in: 4) ? 0 : 1
        try perform(machine.reached(SyncStep(number: steps, stage: stage)))
    }

    private func read() { _ = queue.popFirst() }

    // MARK: What the stream tells

    private func perform(_ actions: [StreamMachine<Int>.Action]) throws {
        for action in actions {
            switch action {
            case .startSync:
                dice.tell("the sync is asked for")
                try hold(sync == nil, "the sync is asked for twice")
                // One that somebody else has asked for is joined, perhaps after it wrote.
                let isJoined = record.succeededAt != nil && dice.isOne(in: 3)
                sync = isJoined ? .written(SyncReceipt(number: record.number, isNews: true)) : .asked
            case .emit(let element): try hear(element)
            }
        }
    }

    private func hear(_ element: StoreElement<Int>) throws {
        dice.tell("the stream says \(element)")
        queue.append(element)
        lastOfAll = element
        switch element {
        case .waiting, .loading:
            isSpinning = true
            try hold(sync != nil && sync?.isOver == false, "the sync has ended, and \(element)")
        case .value(let value, let origin):
            try hold(value != shown?.value || mayRepeat, "\(value) is shown twice")
            try hold(origin.number >= shown?.number ?? 0, "\(origin.number) is older than what was shown")
            try hold(!(isSettled && origin.isRefreshing), "an error has ended the wait, and more is to come")
            shown = (value, origin.number)
            if sync != nil, !origin.isRefreshing { (ends, isSpinning) = (ends + 1, false) }
        case .noNews(let origin):
            guard let receipt = sync?.receipt else { throw Violation("no news, and no sync has succeeded") }
            try hold(origin.number >= receipt.number, "no news of what was not read")
            try hold(!isSettled, "no news, and an error has ended the wait before")
            (ends, isSpinning) = (ends + 1, false)
            try hold(!origin.isRefreshing, "no news, and more is to come")
        case .error(let error):
            if sync?.isOver == true { isSettled = true }
            if error.code == .fetchFailed || isSettled { (ends, isSpinning) = (ends + 1, false) }
        }
    }

    // MARK: What holds

    func check() throws {
        var copy = queue
        var count = 0
        while copy.popFirst() != nil { count += 1 }
        try hold(count <= ElementQueue<Int>.limit + 8, "\(count) elements wait")
        if case .over(let receipt) = sync, receipt.map({ $0.number <= max(lastRead, lastFailure) }) ?? true {
            try hold(ends > 0, "the sync has ended, what it wrote was read, and nobody was told")
        }
    }

    func end() throws {
        while let sync, !sync.isOver { try goOnSyncing(mayFail: false) }
        try observe(snapshot)
        if let sync, sync.isOver {
            try hold(ends > 0 && !isSpinning, "the sync has ended, and nobody was told")
        }
        let isRefreshing =
            switch lastOfAll {
            case .value(_, let origin)?, .noNews(let origin)?: origin.isRefreshing
            case .waiting?, .loading?: true
            case .error?, nil: false
            }
        try hold(!isRefreshing, "the last word is \(lastOfAll.map { "\($0)" } ?? "-"), and nothing more is to come")
        // What was shown, if anything may be, is what is stored.
        if let shown { try hold(shown.value == value, "\(shown.value) is shown, and \(value) is stored") }
        if sync?.receipt != nil { try hold(shown != nil, "the sync has succeeded, and nothing is shown") }
        // A slow reader still hears the last word of all.
        var (last, waits) = (nil as StoreElement<Int>?, false)
        while let element = queue.popFirst() { (last, waits) = (element, true) }
        if waits {
            try hold("\(last.map { "\($0)" } ?? "")" == "\(lastOfAll.map { "\($0)" } ?? "")", "the last word is lost")
        }
    }
}
#endif
