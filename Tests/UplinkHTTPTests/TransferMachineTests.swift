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

    /// A machine whose request has gone out, at second 0.
    private func awaitingHead() -> TransferMachine {
        var machine = machine()
        _ = machine.turnCame(now: 0)
        _ = machine.gateOpened()
        machine.requestGoesOut(now: 0)
        return machine
    }

    /// A machine whose body flows, at second 3.
    private func flowing() -> TransferMachine {
        var machine = machine()
        #expect(machine.turnCame(now: 0) == .enterGate)
        #expect(machine.gateOpened() == .start)
        machine.requestGoesOut(now: second)
        #expect(machine.headArrived(now: 3 * second) == true)
        return machine
    }

    /// Or it would go on and be paused for ever while nobody reads.
    @Test(arguments: [0, 1, 100, 8 << 10, 16 << 10, 40 << 10, 64 << 10, 1 << 20])
    func whoGoesOnHasRoomForWhatItWasPausedFor(high: Int) {
        let piece = 16 << 10
        let low = TransferMachine.lowMark(below: high, piece: piece)
        #expect(low >= 0 && low <= high / 4)
        for next in [0, 1, high / 2, high] {
            var machine = TransferMachine(timeouts: .init(), highMark: high, now: 0)
            _ = machine.turnCame(now: 0)
            _ = machine.gateOpened()
            machine.requestGoesOut(now: 0)
            _ = machine.headArrived(now: 0)
            #expect(machine.bytesArrived(piece, buffered: low, next: next, now: 0) == .keep)
        }
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

    @Test func aChangeOfTheNetworkBeginsAgainWithinTheSameLimit() {
        var connecting = machine()
        #expect(connecting.networkChanged() == .none)
        _ = connecting.turnCame(now: second)
        #expect(connecting.networkChanged() == .none)  // it waits, and nothing has been begun
        #expect(connecting.gateOpened() == .start)
        #expect(connecting.networkChanged() == .enterGate)
        #expect(connecting.gateOpened() == .start)
        #expect(connecting.timePassed(now: 3 * second) == .end(.timedOut(.connect)))
        var flowing = flowing()
        #expect(flowing.networkChanged() == .none)
    }

    @Test func theAnswersTimeCountsFromTheEndOfTheRequestsBody() {
        var machine = machine()
        _ = machine.turnCame(now: 0)
        _ = machine.gateOpened()
        machine.requestGoesOut(now: second)
        machine.bodyIsSent(now: 2 * second)
        #expect(machine.deadline == 3 * second)  // a quarter of the stall's, to look whether it moves
        machine.bodyIsSent(now: 5 * second)
        #expect(machine.deadline == 6 * second)
        var stalled = machine
        #expect(stalled.timePassed(now: 9 * second) == .end(.timedOut(.stall)))
        machine.bodyIsAwaited()
        #expect(machine.deadline == 100 * second)  // the producer takes the time: the total is all that counts
        machine.bodyIsSent(now: 50 * second)
        #expect(machine.deadline == 51 * second)
        machine.bodyWasSent(now: 51 * second)
        #expect(machine.timePassed(now: 52 * second) == .none)
        #expect(machine.deadline == 52 * second + 3 * second / 4)
        #expect(machine.timePassed(now: 54 * second) == .end(.timedOut(.firstByte)))
    }

    @Test func whatMovesOnASlowNetworkIsNotStalled() {
        var machine = awaitingHead()
        machine.bodyIsSent(now: 0)
        for time in Int64(1)...9 {
            let sending = SendingProgress(acknowledged: UInt64(time), isWhole: false)
            #expect(machine.timePassed(now: time * second, sending: sending) == .none)
        }
        let sending = SendingProgress(acknowledged: 9, isWhole: false)
        #expect(machine.timePassed(now: 12 * second, sending: sending) == .none)
        #expect(machine.timePassed(now: 13 * second, sending: sending) == .end(.timedOut(.stall)))
    }

    @Test func theAnswersTimeCountsFromWhenTheLastByteHasArrived() {
        var machine = awaitingHead()
        machine.bodyWasSent(now: 0)
        var fast = machine
        let arrived = SendingProgress(acknowledged: 5, isWhole: true)
        #expect(fast.timePassed(now: second, sending: arrived) == .none)
        #expect(fast.timePassed(now: 3 * second, sending: arrived) == .end(.timedOut(.firstByte)))
        #expect(machine.timePassed(now: 2 * second, sending: SendingProgress(acknowledged: 4, isWhole: false)) == .none)
        #expect(machine.timePassed(now: 3 * second, sending: arrived) == .none)
        #expect(machine.timePassed(now: 5 * second, sending: arrived) == .end(.timedOut(.firstByte)))
    }

    /// Both directions may be open for hours, where a request's body is made as the answer comes.
    @Test func anAnswerThatWaitsForTheRequestsProducerIsNotStalled() {
        var machine = awaitingHead()
        machine.bodyIsSent(now: 0)
        machine.bodyIsAwaited()
        #expect(machine.headArrived(now: second) == true)
        #expect(machine.deadline == 100 * second)
        #expect(machine.bytesArrived(1, buffered: 0, now: 2 * second) == .keep)
        #expect(machine.deadline == 100 * second)
        machine.bodyIsSent(now: 50 * second)
        #expect(machine.deadline == 51 * second)  // a quarter, to look whether it moves
        #expect(machine.bytesArrived(200, buffered: 50, now: 51 * second) == .pause)
        machine.bodyIsAwaited()
        #expect(machine.demanded(now: 52 * second) == .resume)
        #expect(machine.deadline == 100 * second)
    }

    @Test func aRefusalDoesNotWaitForTheRequestsProducer() {
        var machine = awaitingHead()
        machine.bodyIsSent(now: 0)
        machine.bodyIsAwaited()
        #expect(machine.headArrived(isRefusal: true, now: 2 * second) == true)
        machine.bodyIsAwaited()
        #expect(machine.timePassed(now: 6 * second - 1) == .none)
        #expect(machine.timePassed(now: 6 * second) == .end(.timedOut(.stall)))
    }

    @Test func aRequestsBodyKeepsAnAnswersAlive() {
        var machine = flowing()
        machine.bodyIsSent(now: 6 * second)
        #expect(machine.timePassed(now: 10 * second - 1) == .none)
        machine.bodyIsAwaited()
        #expect(machine.deadline == 100 * second)
        machine.bodyWasSent(now: 20 * second)
        #expect(machine.timePassed(now: 21 * second) == .none)
        var stalled = machine
        #expect(stalled.timePassed(now: 24 * second) == .end(.timedOut(.stall)))
        #expect(machine.bytesArrived(200, buffered: 50, now: 21 * second) == .pause)
        machine.bodyIsSent(now: 22 * second)
        #expect(machine.deadline == 100 * second)  // the reader takes the time
        #expect(machine.timePassed(now: 50 * second) == .none)
    }

    /// libcurl has taken the last piece, or waits until it can send more, and the network is slow.
    @Test(arguments: [false, true]) func aRequestsBodyBehindAnEarlyHeadIsNotStalledWhileItMoves(isTaken: Bool) {
        var machine = flowing()
        let now = 6 * second
        if isTaken { machine.bodyWasSent(now: now) } else { machine.bodyIsSent(now: now) }
        for time in Int64(1)...9 {
            let sending = SendingProgress(acknowledged: UInt64(time), isWhole: false)
            #expect(machine.timePassed(now: now + time * second, sending: sending) == .none)
        }
        let sending = SendingProgress(acknowledged: 9, isWhole: false)
        #expect(machine.bytesArrived(1, buffered: 0, now: 16 * second) == .keep)  // the answer moves, too
        #expect(machine.timePassed(now: 20 * second - 1, sending: sending) == .none)
        #expect(machine.timePassed(now: 20 * second, sending: sending) == .end(.timedOut(.stall)))
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

    /// libcurl waits a second for the 100, and that second is not the server's.
    @Test func aBodyThatWaitsForConsentIsNotTheServersDelay() {
        var timeouts = HTTPTimeouts()
        timeouts.firstByte = .milliseconds(500)
        var machine = TransferMachine(timeouts: timeouts, highMark: 100, now: 0)
        _ = machine.turnCame(now: 0)
        _ = machine.gateOpened()
        machine.requestGoesOut(heldBack: second, now: 0)
        #expect(machine.timePassed(now: second) == .none)
        machine.bodyIsSent(now: second)
        machine.bodyWasSent(now: second)
        #expect(machine.timePassed(now: second + second / 2) == .end(.timedOut(.firstByte)))
        timeouts.firstByte = .nanoseconds(Int64.max)
        machine = TransferMachine(timeouts: timeouts, highMark: 100, now: 0)
        _ = machine.turnCame(now: 0)
        _ = machine.gateOpened()
        machine.requestGoesOut(heldBack: second, now: second)
        #expect(machine.deadline == nil)
    }

    @Test func theEndComesOnce() {
        var machine = flowing()
        #expect(machine.cancelled() == .end(.cancelled))
        #expect(machine.cancelled() == .none)
        #expect(machine.engineFinished(succeeded: true) == .none)
        #expect(machine.timePassed(now: 1000 * second) == .none)
        #expect(machine.turnCame(now: 0) == .none)
        #expect(machine.gateOpened() == .none)
        #expect(machine.headArrived(now: 0) == false)
        #expect(machine.bytesArrived(1, buffered: 0, now: 0) == .refuse)
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
