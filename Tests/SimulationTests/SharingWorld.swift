// SPDX-License-Identifier: Apache-2.0

@testable import UplinkCore

/// Work that is done once for all who want it: `SharedWorkMachine` with callers and tasks that are models. Between any
/// two of its calls another may come: a task is started after its work has been given up, a caller leaves between its
/// wake and what it would have taken.
final class SharingWorld: World {
    private typealias Machine = SharedWorkMachine<String, Int, Int, Int>

    private final class Caller {
        enum Stage { case joined, parked, woken, over }
        let number: Int
        let place: Machine.Place
        let work: Work
        var stage = Stage.joined
        var hasLeft = false
        init(_ number: Int, _ place: Machine.Place, _ work: Work) {
            (self.number, self.place, self.work) = (number, place, work)
        }
    }

    /// A task, which may have ended before whoever made it could say so.
    private final class Work {
        let number: Int
        let key: String
        let place: Machine.Place
        var (isTold, isCancelled, isFinished) = (false, false, false)
        init(_ number: Int, _ key: String, _ place: Machine.Place) {
            (self.number, self.key, self.place) = (number, key, place)
        }
    }

    let dice: Dice
    private var machine = Machine()
    private var callers: [Caller] = []
    private var works: [Work] = []

    init(_ dice: Dice) { self.dice = dice }

    // MARK: What happens

    func step() throws {
        switch dice.roll(8) {
        case 0, 1: if callers.count < 20 { try join() }
        case 2: if !callers.isEmpty { try leave(dice.pick(callers)) }
        case 3, 4: if !works.isEmpty { try goOn(dice.pick(works)) }
        default: if !callers.isEmpty { try goOn(dice.pick(callers)) }
        }
    }

    private func join() throws {
        let key = dice.pick(["a", "b"])
        // Under way is what somebody still wants, and what has no result.
        let current = works.first { work in work.key == key && !work.isFinished && !wanting(work).isEmpty }
        let (place, isFirst) = machine.join(key)
        try hold(isFirst == (current == nil), "\(key) is \(isFirst ? "" : "not ")to be started")
        let work = current ?? Work(works.count, key, place)
        if isFirst { works.append(work) }
        dice.tell("caller \(callers.count) wants \(key), of work \(work.number)")
        callers.append(Caller(callers.count, place, work))
    }

    private func wanting(_ work: Work) -> [Caller] {
        callers.filter { $0.work === work && !$0.hasLeft && $0.stage != .over }
    }

    private func goOn(_ work: Work) throws {
        if !work.isTold, dice.isOne(in: 2) {
            dice.tell("work \(work.number) is started")
            work.isTold = true
            let cancelled = machine.started(work.number, for: work.place)
            try hold(cancelled ?? work.number == work.number, "another work is cancelled")
            if cancelled != nil { work.isCancelled = true }
            return
        }
        guard !work.isFinished else { return }
        dice.tell("work \(work.number) is done")
        work.isFinished = true
        for waiter in machine.finished(work.place, .success(work.number)) { try wake(waiter, by: work) }
    }

    private func wake(_ waiter: Int, by work: Work) throws {
        let caller = callers[waiter]
        try hold(caller.stage == .parked, "caller \(waiter) is woken, and does not wait")
        try hold(caller.work === work, "caller \(waiter) is woken by another's work")
        caller.stage = .woken
    }

    private func goOn(_ caller: Caller) throws {
        switch caller.stage {
        case .joined:
            guard machine.park(caller.place, caller.number) else { return try take(caller) }
            caller.stage = .parked
            try hold(!caller.work.isFinished && !caller.hasLeft, "caller \(caller.number) waits for nothing")
        case .woken: try take(caller)
        case .parked, .over: break
        }
    }

    private func take(_ caller: Caller) throws {
        caller.stage = .over
        switch machine.take(caller.place) {
        case .success(let number):
            try hold(number == caller.work.number, "caller \(caller.number) gets what another wanted")
            try hold(!caller.hasLeft, "caller \(caller.number) has left, and gets something")
        case .failure(let error): throw error
        case nil: try hold(caller.hasLeft, "caller \(caller.number) gets nothing")
        }
    }

    /// A caller is cancelled, which it may be at any time and more than once.
    private func leave(_ caller: Caller) throws {
        let isLast = !caller.hasLeft && wanting(caller.work).count == 1 && caller.stage != .over
        let (waiter, work) = machine.leave(caller.place)
        dice.tell("caller \(caller.number) leaves")
        try hold(waiter ?? caller.number == caller.number, "another caller is woken")
        if waiter != nil { try wake(caller.number, by: caller.work) }
        caller.hasLeft = true
        if let work {
            try hold(isLast, "work \(work) is cancelled, and somebody wants it")
            works[work].isCancelled = true
        }
    }

    // MARK: What holds

    func check() throws {
        for caller in callers where caller.stage == .parked {
            try hold(!caller.hasLeft, "caller \(caller.number) has left, and waits")
            try hold(!caller.work.isFinished, "work \(caller.work.number) is done, and caller \(caller.number) waits")
        }
        for work in works where work.isTold && !work.isFinished {
            let isWanted = !wanting(work).isEmpty
            try hold(work.isCancelled != isWanted, "work \(work.number) is cancelled: \(work.isCancelled)")
        }
    }

    func end() throws {
        for work in works { while !work.isTold || !work.isFinished { try goOn(work) } }
        for caller in callers { while caller.stage != .over { try goOn(caller) } }
        try hold(machine.isEmpty, "\(machine) is left")
    }
}
