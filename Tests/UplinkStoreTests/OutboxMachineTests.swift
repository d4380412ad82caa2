// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import TestSupport
import Testing
@testable import UplinkStore

@Suite(.timeLimit(.minutes(1)))
struct OutboxMachineTests {
    private typealias Claim = OutboxMachine.Claim

    private func machine(_ heads: (ExactKey, Int64, Duration)...) -> Machine {
        let machine = Machine()
        for (key, id, rest) in heads { machine.looked(key, .init(id: id, rest: rest), now: .zero) }
        return machine
    }

    /// The machine as a reference: what changes it cannot stand in an expectation.
    private final class Machine {
        private var value = OutboxMachine()

        init() { restart() }
        func restart() { value.restart(maximumConcurrent: 2) }
        func lookBegins() { value.lookBegins() }
        func retried(_ key: ExactKey, _ id: Int64) { value.retried(key, id) }

        var sending: Set<Int64> { value.sending }
        var isWaiting: Bool { value.isWaiting }
        var alarm: Duration? { value.alarm }
        func state(of key: ExactKey) -> OutboxMachine.State? { value.state(of: key) }
        func looked(_ key: ExactKey, _ head: OutboxMachine.Head?, now: Duration) { value.looked(key, head, now: now) }
        func next(now: Duration) -> [Claim] { value.next(now: now) }
        func waits(_ claim: Claim) { value.waits(claim) }
        func begins(_ claim: Claim) -> Bool { value.begins(claim) }
        func ended(_ claim: Claim, rest: Duration?, now: Duration) { value.ended(claim, rest: rest, now: now) }
        func withdraw(_ id: Int64) -> OutboxMachine.Withdrawal { value.withdraw([id]) }
        func withdrawalEnded(_ id: Int64) { value.withdrawalEnded(id) }
    }

    @Test func theOldestAreClaimedFirstUpToTheLimit() {
        let machine = machine(("c", 3, .zero), ("a", 1, .zero), ("b", 2, .zero))
        #expect(machine.next(now: .zero) == [Claim(key: "a", id: 1), Claim(key: "b", id: 2)])
        #expect(machine.next(now: .zero) == [])
        machine.ended(Claim(key: "a", id: 1), rest: nil, now: .zero)
        #expect(machine.next(now: .zero) == [Claim(key: "c", id: 3)])
    }

    /// What is retried while the database is read is due, and is looked up again; what was read has its old pause.
    @Test(arguments: [false, true]) func aLookThatBeganEarlierDoesNotUndoARetry(isKnown: Bool) {
        let machine = isKnown ? machine(("a", 1, .seconds(300))) : machine()
        machine.lookBegins()
        machine.retried("a", 1)
        machine.looked("a", .init(id: 1, rest: .seconds(300)), now: .zero)
        machine.lookBegins()
        machine.looked("a", .init(id: 1, rest: .zero), now: .zero)
        #expect(machine.next(now: .zero) == [Claim(key: "a", id: 1)])
    }

    @Test func aKeyIsSentOneEntryAtATime() {
        let machine = machine(("a", 1, .zero))
        let claim = machine.next(now: .zero)[0]
        machine.looked("a", .init(id: 1, rest: .zero), now: .zero)  // somebody added a second
        #expect(machine.next(now: .zero) == [])
        #expect(machine.begins(claim))
        #expect(machine.sending == [1])
        machine.looked("a", .init(id: 2, rest: .zero), now: .zero)
        #expect(machine.next(now: .zero) == [])
        machine.ended(claim, rest: nil, now: .zero)
        machine.lookBegins()
        machine.looked("a", .init(id: 2, rest: .zero), now: .zero)
        #expect(machine.next(now: .zero) == [Claim(key: "a", id: 2)])
    }

    @Test func anEntryThatFailedRestsAndItsKeyWithIt() {
        let machine = machine(("a", 1, .zero), ("b", 2, .zero))
        let claims = machine.next(now: .zero)
        #expect(machine.begins(claims[0]))
        machine.ended(claims[0], rest: .seconds(5), now: .seconds(1))
        machine.looked("a", .init(id: 1, rest: .seconds(5)), now: .seconds(2))
        #expect(machine.alarm == .seconds(6))
        #expect(machine.next(now: .seconds(5)) == [])
        #expect(machine.next(now: .seconds(6)) == [Claim(key: "a", id: 1)])
        #expect(machine.alarm == nil)
    }

    /// The wall clock was set back by a day between two looks; the moment was settled at the first.
    @Test func aClockThatWasSetBackDoesNotMakeARestLonger() {
        let machine = machine(("a", 1, .seconds(5)))
        machine.looked("a", .init(id: 1, rest: .seconds(300)), now: .seconds(4))
        #expect(machine.next(now: .seconds(5)) == [Claim(key: "a", id: 1)])
    }

    @Test func aRestEndsWhenSomebodyWantsItToAndByNoLook() {
        let machine = machine(("a", 1, .seconds(5)))
        machine.looked("a", .init(id: 1, rest: .zero), now: .seconds(1))  // the rest could not be written
        #expect(machine.next(now: .seconds(1)) == [])
        machine.retried("a", 2)
        #expect(machine.next(now: .seconds(1)) == [])
        machine.retried("a", 1)
        let claims = machine.next(now: .seconds(1))
        #expect(claims == [Claim(key: "a", id: 1)])
        #expect(machine.begins(claims[0]))
        machine.retried("a", 1)  // noted, and told before the end
        machine.ended(claims[0], rest: .seconds(5), now: .seconds(2))
        #expect(machine.next(now: .seconds(2)) == claims)
    }

    /// What was read before the end of a sending says nothing of what came after.
    @Test func aLookThatIsOlderThanTheEndOfASendingIsNotHeeded() {
        let machine = machine(("a", 1, .zero), ("b", 2, .zero))
        let claims = machine.next(now: .zero)
        for claim in claims { #expect(machine.begins(claim)) }
        machine.lookBegins()
        machine.ended(claims[0], rest: nil, now: .zero)  // it has failed for good
        machine.ended(claims[1], rest: .seconds(5), now: .zero)
        machine.looked("a", .init(id: 1, rest: .zero), now: .zero)
        machine.looked("b", .init(id: 2, rest: .zero), now: .zero)
        #expect(machine.next(now: .zero) == [])
        machine.lookBegins()
        machine.looked("a", .init(id: 3, rest: .zero), now: .zero)
        #expect(machine.next(now: .zero) == [Claim(key: "a", id: 3)])
    }

    @Test func anEntryThatIsCancelledTwiceDoesNotBeginBeforeBothHaveEnded() {
        let machine = machine(("a", 1, .zero))
        #expect(machine.withdraw(1) == .granted)
        #expect(machine.withdraw(1) == .granted)
        machine.withdrawalEnded(1)
        #expect(machine.next(now: .zero) == [])
        machine.restart()  // another run begins meanwhile
        machine.looked("a", .init(id: 1, rest: .zero), now: .zero)
        #expect(machine.next(now: .zero) == [])
        machine.withdrawalEnded(1)
        #expect(machine.next(now: .zero) == [Claim(key: "a", id: 1)])
    }

    @Test func anEntryThatIsCancelledDoesNotBegin() {
        let machine = machine(("a", 1, .zero), ("b", 2, .zero))
        let claims = machine.next(now: .zero)
        #expect(machine.begins(claims[1]))
        machine.waits(claims[0])
        #expect(machine.isWaiting)
        #expect(machine.withdraw(1) == .granted)
        #expect(machine.withdraw(2) == .refused)
        #expect(!machine.begins(claims[0]))
        machine.ended(claims[0], rest: nil, now: .zero)
        machine.lookBegins()
        machine.looked("a", .init(id: 1, rest: .zero), now: .zero)  // not removed yet
        #expect(machine.next(now: .zero) == [])
        machine.withdrawalEnded(1)  // it could not be removed
        #expect(machine.next(now: .zero) == [Claim(key: "a", id: 1)])
    }

    /// With a look at all of them in each step this would take minutes.
    @Test func aStepDoesNotLookAtAllKeys() {
        let count: Int64 = 30_000
        let machine = machine()
        for id in 1...count {
            machine.looked(ExactKey("\(id)"), .init(id: id, rest: id % 3 == 0 ? .seconds(1) : .zero), now: .zero)
        }
        var order: [Int64] = []
        for now in [Duration.zero, .seconds(1)] {
            while case let claims = machine.next(now: now), !claims.isEmpty {
                for claim in claims {
                    order.append(claim.id)
                    #expect(machine.begins(claim))
                    #expect(machine.withdraw(claim.id) == .refused)
                    machine.ended(claim, rest: nil, now: now)
                }
            }
            #expect(machine.alarm == (now == .zero ? .seconds(1) : nil))
        }
        #expect(order.count == Int(count))
    }

    /// Against a machine that looks at all keys, over steps by chance.
    @Test func itClaimsWhatALookAtAllKeysWould() {
        var generator = SeededGenerator(seed: Effort.seed)
        let machine = machine()
        var world: [ExactKey: (id: Int64, until: Duration)] = [:]
        var now = Duration.zero
        for id in 1...2000 as ClosedRange<Int64> {
            now += .milliseconds(Int64.random(in: 0...3, using: &generator))
            let key = ExactKey("\(Int.random(in: 0..<50, using: &generator))")
            if world[key] == nil {
                let rest = Duration.milliseconds(Int64.random(in: -5...20, using: &generator))
                world[key] = (id, now + max(.zero, rest))
                machine.lookBegins()
                machine.looked(key, .init(id: id, rest: max(.zero, rest)), now: now)
            }
            let wanted = world.filter { $0.value.until <= now }.sorted { $0.value.id < $1.value.id }.prefix(2)
            let claims = machine.next(now: now)
            #expect(claims == wanted.map { Claim(key: $0.key, id: $0.value.id) }, "seed \(Effort.seed)")
            for claim in claims {
                #expect(machine.begins(claim))
                let rest = Bool.random(using: &generator) ? Duration.milliseconds(7) : nil
                machine.ended(claim, rest: rest, now: now)
                world[claim.key] = rest.map { (claim.id, now + $0) }
            }
            #expect(machine.sending.isEmpty)
        }
    }

    @Test func aKeyWithoutEntriesIsForgotten() {
        let machine = machine(("a", 1, .seconds(5)))
        machine.looked("a", nil, now: .zero)
        #expect(machine.state(of: "a") == nil)
        #expect(machine.alarm == nil)
    }

    @Test(arguments: [(1, 1.0), (2, 2.0), (3, 4.0), (5, 10.0), (1000, 10.0)])
    func theBackOffGrowsToItsMaximum(attempts: Int, seconds: Double) {
        let backoff = OutboxBackoff(initial: .seconds(1), factor: 2, maximum: .seconds(10), jitter: 0.5)
        #expect(backoff.pause(after: attempts, chance: 0) == .seconds(seconds))
        #expect(backoff.pause(after: attempts, chance: 1) == .seconds(seconds / 2))
    }

    /// The columns are anybody's to write.
    @Test(arguments: [1e300, -1e300, .infinity, -.infinity, .nan])
    func numbersThatMakeNoSenseMakeNoTrap(number: Double) {
        var record = SyncRecord(key: "a")
        record.succeededAt = number
        for now in [0, number] {
            _ = SyncAge.of(record, now: Date(timeIntervalSince1970: now))
            for rest in [
                OutboxBackoff.remainder(of: number, since: 0, now: now),
                OutboxBackoff.remainder(of: 10, since: number, now: now),
            ] {
                #expect(rest >= .zero && rest <= .longest)
            }
        }
        let machine = machine(("a", 1, .zero))
        machine.ended(machine.next(now: .zero)[0], rest: .seconds(Int64.max), now: .seconds(1))
        #expect(machine.alarm == .seconds(1) + .longest)
    }

    @Test(arguments: [(100.0, 10.0), (104, 6), (110, 0), (500, 0), (50, 10), (-1e9, 10)])
    func whatIsLeftOfAPauseIsNeverMoreThanThePause(now: Double, seconds: Double) {
        #expect(OutboxBackoff.remainder(of: 10, since: 100, now: now) == .seconds(seconds))
    }
}
#endif
