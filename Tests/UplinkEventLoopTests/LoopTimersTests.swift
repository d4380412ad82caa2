// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop

/// Something whose release can be seen.
private final class Token: Sendable {}

@Suite(.timeLimit(.minutes(1)), .undisturbed)
struct LoopTimersTests {
    @Test func timersFireInTheOrderOfTheirDeadlinesAndNeverEarly() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let delays = [30, 0, 12, 50, 5, 41, 22, -7]
            // In one turn, in which none fires.
            try await owner.with { owner, _ in
                for delay in delays { try owner.arm(delay, after: .milliseconds(delay)) }
            }
            let fired = await owner.next(delays.count)
            #expect(fired.filter { $0 > 0 } == [5, 12, 22, 30, 41, 50])
            #expect(Set(fired) == Set(delays))
            #expect(await owner.earliness.allSatisfy { $0 <= .zero })
        }
    }

    @Test func equalAndPastMomentsAllFireOnce() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let now = LoopClock(on: loop).now
            try await owner.with { owner, timers in
                for number in 0..<100 {
                    let moment = now.advanced(by: .milliseconds(number.isMultiple(of: 2) ? -1 : 3))
                    _ = try timers.arm(at: moment) { _ in owner.record(number) }
                }
            }
            #expect(await Set(owner.next(100)) == Set(0..<100))
            #expect(await owner.count == 0)
        }
    }

    @Test func aZeroDelayFiresAfterArmHasReturned() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            try await owner.with { owner, timers in
                _ = try timers.arm(after: .zero) { _ in owner.record(2) }
                owner.record(1)
            }
            #expect(await owner.next(2) == [1, 2])
        }
    }

    @Test func cancelledTimersDoNotFire() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let early = try await owner.arm(1, after: .milliseconds(1))
            let late = try await owner.arm(2, after: .seconds(3600))
            #expect(try await owner.cancel(late))
            #expect(try await !owner.cancel(late), "cancelled before")
            #expect(await owner.next(1) == [1])
            #expect(try await !owner.cancel(early), "it has fired")
            #expect(await owner.count == 0)
        }
    }

    @Test func anEarlierTimerOvertakesTheOneThatIsSet() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            try await owner.arm(1, after: .seconds(3600))
            try await owner.arm(2, after: .milliseconds(1))
            #expect(await owner.next(1) == [2])
        }
    }

    @Test func whatComesAfterACancelledFirstOneStillFires() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let isCancelled = try await owner.with { owner, _ in
                let first = try owner.arm(1, after: .milliseconds(5))
                try owner.arm(2, after: .milliseconds(20))
                return try owner.cancel(first)
            }
            #expect(isCancelled)
            #expect(await owner.next(1) == [2])
            // The set timer went off for nothing in between, and is set anew.
            try await owner.arm(3, after: .milliseconds(1))
            #expect(await owner.next(2) == [2, 3])
        }
    }

    @Test func aCallbackMayCancelAnotherThatIsDueToo() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let now = LoopClock(on: loop).now
            let wasArmed = try await owner.with { owner, timers in
                let victim = try timers.arm(at: now.advanced(by: .nanoseconds(2))) { _ in owner.record(-1) }
                let own = Locked<LoopTimers.ID?>(nil)
                _ = try timers.arm(at: now.advanced(by: .nanoseconds(1))) { id in
                    own.withLock { $0 = id }
                    owner.record(timers.cancel(id) ? -2 : 1)  // its own id: it has fired
                    owner.record(timers.cancel(victim) ? 2 : -3)
                }
                return timers.count
            }
            #expect(wasArmed == 2)
            #expect(await owner.next(2) == [1, 2])
            try await owner.arm(3, after: .milliseconds(1))
            #expect(await owner.next(3) == [1, 2, 3])
        }
    }

    @Test func aCallbackMayArmAndWhatItArmsWaitsForTheNextTurn() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let past = LoopClock(on: loop).now.advanced(by: .seconds(-1))
            try await owner.with { owner, timers in
                _ = try timers.arm(at: past) { _ in
                    owner.record(1)
                    do {
                        _ = try timers.arm(at: past) { _ in owner.record(3) }
                    } catch { owner.record(-1) }
                    owner.record(2)
                }
            }
            #expect(await owner.next(3) == [1, 2, 3])
        }
    }

    @Test func aTimerThatArmsItselfForeverStarvesNobody() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            try await owner.armForever()
            try await LoopClock(on: loop).sleep(for: .milliseconds(5))
            try await owner.arm(1, after: .milliseconds(1))
            #expect(await owner.next(1) == [1])
            #expect(await owner.count == 1)
        }
    }

    @Test func anIdNeverMeansALaterTimer() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            try await owner.with { _, timers in
                var old: [LoopTimers.ID] = []
                for _ in 0..<3 {
                    let ids = try (0..<5000).map { _ in try timers.arm(after: .seconds(3600)) { _ in } }
                    for id in old { #expect(!timers.cancel(id)) }
                    #expect(timers.count == 5000)
                    // Emptied, the table gives its memory back, and its places begin anew.
                    for id in ids { #expect(timers.cancel(id)) }
                    #expect(timers.count == 0)
                    old += ids
                }
                #expect(Set(old).count == 15_000)
            }
        }
    }

    @Test func endlessDelaysNeverFireAndCanBeCancelled() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let endless = try await owner.arm(1, after: .seconds(Int64.max))
            try await owner.arm(2, after: .milliseconds(2))
            #expect(await owner.next(1) == [2])
            #expect(try await owner.cancel(endless))
        }
    }

    @Test func whatAClosureCapturesIsReleasedWhenItsTimerHasFiredOrIsCancelled() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            weak var fired: Token?
            weak var cancelled: Token?
            do {
                let (one, two) = (Token(), Token())
                (fired, cancelled) = (one, two)
                let id = try await owner.with { owner, timers in
                    _ = try timers.arm(after: .zero) { _ in withExtendedLifetime(one) { owner.record(1) } }
                    return try timers.arm(after: .seconds(3600)) { _ in withExtendedLifetime(two) {} }
                }
                #expect(try await owner.cancel(id))
            }
            _ = await owner.next(1)
            try await owner.with { _, _ in }  // after the turn in which it fired
            #expect(fired == nil)
            #expect(cancelled == nil)
        }
    }

    @Test func aClosureThatIsReleasedMayCancelAnotherTimer() async throws {
        /// Cancels a timer when it goes.
        final class Canceller: @unchecked Sendable {  // goes on the loop's thread
            let cancel: () -> Void
            init(_ cancel: @escaping () -> Void) { self.cancel = cancel }
            deinit { cancel() }
        }
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            try await owner.with { _, timers in
                let other = try timers.arm(after: .seconds(3600)) { _ in }
                let canceller = Canceller { [unowned timers] in #expect(timers.cancel(other)) }
                let id = try timers.arm(after: .seconds(3600)) { _ in withExtendedLifetime(canceller) {} }
                _ = consume canceller
                timers.cancel(id)
                #expect(timers.count == 0)
            }
        }
    }

    @Test func timersOfALoopThatEndsAreReleasedUnfiredAndItsOwnerIsTold() async throws {
        weak var captured: Token?
        let owner = try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            let token = Token()
            captured = token
            try await owner.with { owner, timers in
                for _ in 0..<100 {
                    _ = try timers.arm(after: .seconds(3600)) { _ in withExtendedLifetime(token) { owner.record(-1) } }
                }
            }
            return owner
        }
        #expect(captured == nil)
        #expect(await owner.ends == 1)
        #expect(await owner.fired == [])
        #expect(await owner.count == 0)
    }

    @Test func anEndedLoopArmsNothing() async throws {
        let (owner, id) = try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            return (owner, try await owner.arm(1, after: .seconds(3600)))
        }
        let error = await #expect(throws: EventLoopError.self) { try await owner.arm(2, after: .zero) }
        #expect(error?.code == .ended)
        #expect(try await !owner.cancel(id))
        let late = TimerOwner(on: owner.eventLoop)
        await #expect(throws: EventLoopError.self) { try await late.arm(1, after: .zero) }
    }

    @Test func droppingTheTimersCancelsThem() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            weak var captured: Token?
            let hasFired = Locked(false)
            do {
                let token = Token()
                captured = token
                try await owner.with { owner, timers in
                    _ = try timers.arm(after: .milliseconds(2)) { _ in
                        withExtendedLifetime(token) { hasFired.withLock { $0 = true } }
                    }
                    owner.drop()  // in the same turn, or the timer might be first
                }
            }
            #expect(captured == nil)
            // Real time: past the deadline of the timer that is gone.
            try await LoopClock(on: loop).sleep(for: .milliseconds(10))
            #expect(!hasFired.withLock { $0 })
        }
    }

    @Test func aTimerThatDropsThemAllIsTheLast() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            try await owner.with { owner, timers in
                for number in 1...3 {
                    _ = try timers.arm(after: .zero) { _ in
                        owner.drop()
                        owner.record(number)
                    }
                }
            }
            #expect(await owner.next(1) == [1])
            try await LoopClock(on: loop).sleep(for: .milliseconds(10))
            #expect(await owner.fired == [1])
        }
    }

    @Test func anyMixOfArmingCancellingAndFiringEndsEachTimerOnce() async throws {
        try await withEventLoop { loop in
            let owner = TimerOwner(on: loop)
            var random = SystemRandomNumberGenerator()
            let seed = random.next()
            let cancelled = try await owner.with { owner, timers in
                var generator = Generator(state: seed | 1)
                var pending: [(LoopTimers.ID, Int)] = []
                var cancelled: Set<Int> = []
                for number in 0..<20_000 {
                    let delay = Duration.microseconds(Int(generator.next() % 50_000))
                    pending.append((try timers.arm(after: delay) { _ in owner.record(number) }, number))
                    if generator.next() % 3 == 0 {
                        let (id, victim) = pending.swapRemove(at: Int(generator.next() % UInt64(pending.count)))
                        #expect(timers.cancel(id), "seed \(seed)")
                        cancelled.insert(victim)
                    }
                }
                return cancelled
            }
            let fired = await owner.next(20_000 - cancelled.count)
            #expect(fired.count == 20_000 - cancelled.count, "seed \(seed)")
            #expect(Set(fired).union(cancelled).count == 20_000, "seed \(seed)")
            #expect(await owner.count == 0)
        }
    }
}

private struct Generator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 3
    }
}

extension Array {
    fileprivate mutating func swapRemove(at index: Int) -> Element {
        swapAt(index, count - 1)
        return removeLast()
    }
}
