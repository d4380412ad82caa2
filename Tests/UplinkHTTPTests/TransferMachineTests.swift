// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct TransferMachineTests {
    private let second: Int64 = 1_000_000_000
    private let timeouts = HTTPTimeouts(
        queue: .seconds(1), connect: .seconds(2), firstByte: .seconds(3), stall: .seconds(4), total: .seconds(100))

    private func machine(_ timeouts: HTTPTimeouts? = nil) -> TransferMachine {
        TransferMachine(timeouts: timeouts ?? self.timeouts, highMark: 100, now: 0)
    }

    /// A machine whose body flows, at second 3.
    private func flowing() -> TransferMachine {
        var machine = machine()
        #expect(machine.turnCame(now: 0) == .enterGate)
        #expect(machine.gateOpened() == .start)
        machine.requestGoesOut(now: second)
        #expect(machine.headArrived(now: 3 * second) == .deliverHead)
        return machine
    }

    @Test func eachPhaseHasItsOwnDeadline() {
        var machine = machine()
        #expect(machine.deadline == second)
        _ = machine.turnCame(now: second / 2)
        #expect(machine.deadline == second / 2 + 2 * second)
        _ = machine.gateOpened()
        #expect(machine.deadline == second / 2 + 2 * second)  // the gate's wait counts as connecting
        machine.requestGoesOut(now: 2 * second)
        #expect(machine.deadline == 5 * second)
        _ = machine.headArrived(now: 3 * second)
        #expect(machine.deadline == 7 * second)
        #expect(machine.bytesArrived(1, buffered: 0, now: 6 * second) == .keep)
        #expect(machine.deadline == 10 * second)
    }

    @Test func theAnswersTimeCountsFromTheEndOfTheRequestsBody() {
        var machine = machine()
        _ = machine.turnCame(now: 0)
        _ = machine.gateOpened()
        machine.requestGoesOut(now: second)
        machine.bodyIsSent(now: 2 * second)
        #expect(machine.deadline == 6 * second)  // the stall's
        machine.bodyIsSent(now: 5 * second)
        #expect(machine.deadline == 9 * second)
        var stalled = machine
        #expect(stalled.timePassed(now: 9 * second) == .end(.timedOut(.stall)))
        machine.bodyIsAwaited()
        #expect(machine.deadline == 100 * second)  // the producer takes the time: the total is all that counts
        machine.bodyIsSent(now: 50 * second)
        #expect(machine.deadline == 54 * second)
        machine.bodyWasSent(now: 51 * second)
        #expect(machine.deadline == 54 * second)
        #expect(machine.timePassed(now: 54 * second) == .end(.timedOut(.firstByte)))
    }

    @Test func aRequestsBodyKeepsAnAnswersAlive() {
        var machine = flowing()
        machine.bodyIsSent(now: 6 * second)
        #expect(machine.deadline == 10 * second)
        machine.bodyIsAwaited()
        #expect(machine.deadline == 100 * second)
        machine.bodyWasSent(now: 20 * second)
        #expect(machine.deadline == 24 * second)
        #expect(machine.bytesArrived(200, buffered: 50, now: 21 * second) == .pause)
        machine.bodyIsSent(now: 22 * second)
        #expect(machine.deadline == 100 * second)  // the reader takes the time
        #expect(machine.timePassed(now: 50 * second) == .none)
    }

    @Test func eachTimeoutHasItsName() {
        var machine = machine()
        #expect(machine.timePassed(now: second - 1) == .none)
        #expect(machine.timePassed(now: second) == .end(.timedOut(.queue)))
        machine = self.machine()
        _ = machine.turnCame(now: 0)
        #expect(machine.timePassed(now: 2 * second) == .end(.timedOut(.connect)))
        machine = self.machine()
        _ = machine.turnCame(now: 0)
        _ = machine.gateOpened()
        machine.requestGoesOut(now: 0)
        #expect(machine.timePassed(now: 3 * second) == .end(.timedOut(.firstByte)))
        #expect(machine.lastPhase == .awaitingHead)
        machine = flowing()
        #expect(machine.timePassed(now: 7 * second) == .end(.timedOut(.stall)))
        machine = flowing()
        #expect(machine.timePassed(now: 100 * second) == .end(.timedOut(.total)))
    }

    @Test func pausingSuspendsTheStallTimer() {
        var machine = flowing()
        #expect(machine.bytesArrived(60, buffered: 60, now: 4 * second) == .pause)
        #expect(machine.deadline == 100 * second)
        #expect(machine.timePassed(now: 50 * second) == .none)
        #expect(machine.bytesArrived(1, buffered: 0, now: 4 * second) == .pause)
        #expect(machine.demanded(now: 50 * second) == .resume)
        #expect(machine.deadline == 54 * second)
        #expect(machine.demanded(now: 50 * second) == .none)
    }

    @Test func whatFitsOrStandsAloneIsKept() {
        var machine = flowing()
        #expect(machine.bytesArrived(100, buffered: 0, now: 0) == .keep)
        #expect(machine.bytesArrived(1000, buffered: 0, now: 0) == .keep)
        #expect(machine.bytesArrived(40, buffered: 60, now: 0) == .keep)
        #expect(machine.bytesArrived(10, buffered: 40, next: 50, now: 0) == .keep)
        // A high mark of 100 has no room for 51 more.
        #expect(machine.bytesArrived(10, buffered: 60, next: 51, now: 0) == .keep)
        #expect(machine.bytesArrived(41, buffered: 60, now: 0) == .pause)
        machine = flowing()
        #expect(machine.bytesArrived(11, buffered: 40, next: 50, now: 0) == .pause)
    }

    @Test func whileMemoryIsShortOnePieceIsKept() {
        var machine = flowing()
        #expect(machine.bytesArrived(50, buffered: 0, isMemoryShort: true, now: 0) == .keep)
        #expect(machine.bytesArrived(1, buffered: 50, isMemoryShort: true, now: 0) == .pause)
        #expect(machine.phase == .bodyPaused)
    }

    @Test func theEndComesOnce() {
        var machine = flowing()
        #expect(machine.cancelled() == .end(.cancelled))
        #expect(machine.cancelled() == .none)
        #expect(machine.engineFinished(succeeded: true) == .none)
        #expect(machine.timePassed(now: 1000 * second) == .none)
        #expect(machine.turnCame(now: 0) == .none)
        #expect(machine.gateOpened() == .none)
        #expect(machine.headArrived(now: 0) == .none)
        #expect(machine.bytesArrived(1, buffered: 0, now: 0) == .none)
        #expect(machine.demanded(now: 0) == .none)
        #expect(machine.deadline == nil)
        #expect(machine.phase == .ended)
    }

    @Test func aReadersLimitOnlyShortens() {
        var machine = flowing()
        machine.limit(toRemaining: .seconds(2), now: 3 * second)
        #expect(machine.deadline == 5 * second)
        machine.limit(toRemaining: .seconds(1000), now: 3 * second)
        #expect(machine.deadline == 5 * second)
        #expect(machine.timePassed(now: 5 * second) == .end(.timedOut(.total)))
    }

    @Test func noLimitsAreNoDeadline() {
        let none = HTTPTimeouts(queue: nil, connect: nil, firstByte: nil, stall: nil, total: nil)
        #expect(machine(none).deadline == nil)
        var huge = machine(HTTPTimeouts(queue: .seconds(Int64.max)))
        #expect(huge.timePassed(now: .max - 1) == .none)
    }
}
