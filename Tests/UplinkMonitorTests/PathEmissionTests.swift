// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct PathEmissionTests {
    private let start = SuspendingClock.now
    private let online = NetworkPath(status: .satisfied, scope: .global)
    private let offline = NetworkPath(unsatisfiedReason: .noRoute, scope: .site)

    @Test func theFirstPathIsToldAtOnce() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        #expect(emission.evaluated(offline, at: start) == .emit(numbered(offline, 1)))
    }

    @Test func theSamePathIsToldOnce() {
        var emission = PathEmission(minimumInterval: .zero)
        _ = emission.evaluated(offline, at: start)
        #expect(emission.evaluated(offline, at: at(100)) == .none)
        var other = offline
        other.interfaces = [NetworkInterface(name: "eth0", index: 1, kind: .ethernet, mtu: 9000)]
        other.ipv4.unsatisfiedReason = .noAddress
        #expect(emission.evaluated(other, at: at(200)) == .none)
    }

    @Test func aChangeAfterAQuietTimeIsToldAtOnce() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(offline, at: start)
        #expect(emission.evaluated(online, at: at(50)) == .emit(numbered(online, 2)))
    }

    @Test func aChangeWithinTheIntervalWaitsForItsEnd() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(online, at: start)
        #expect(emission.evaluated(offline, at: at(20)) == .wait(.milliseconds(30)))
        #expect(emission.timerFired(at: at(49)) == .wait(.milliseconds(1)))
        #expect(emission.timerFired(at: at(50)) == .emit(numbered(offline, 2)))
        #expect(emission.timerFired(at: at(51)) == .none)
    }

    @Test func theEndOfALossIsToldAtOnceWithinTheIntervalToo() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(online, at: start)
        #expect(emission.evaluated(offline, at: at(60)) == .emit(numbered(offline, 2)))
        #expect(emission.evaluated(online, at: at(61)) == .emit(numbered(online, 3)))
        // The interval counts from there.
        #expect(emission.evaluated(offline, at: at(62)) == .wait(.milliseconds(49)))
        // Another reason for a loss is no end of it.
        #expect(emission.timerFired(at: at(111)) == .emit(numbered(offline, 4)))
        var worse = offline
        worse.unsatisfiedReason = .noInterface
        #expect(emission.evaluated(worse, at: at(112)) == .wait(.milliseconds(49)))
        #expect(emission.evaluated(online, at: at(113)) == .emit(numbered(online, 6)))
        #expect(emission.timerFired(at: at(161)) == .none)
    }

    @Test func aFlappingNetworkIsToldTwiceInAnIntervalAtMost() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        for step in 0..<1000 {
            _ = emission.evaluated(step.isMultiple(of: 2) ? online : offline, at: at(step))
            _ = emission.timerFired(at: at(step))
        }
        #expect((2...41).contains(emission.emitted))
    }

    @Test func furtherChangesDoNotProlongTheWait() throws {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(online, at: start)
        var lastWait = Duration.zero
        for step in 1..<50 {
            var path = online
            path.ipv4.gateway = IPAddress("192.0.2.\(step)")
            path.ipv4.isAvailable = true
            guard case .wait(let wait) = emission.evaluated(path, at: at(step)) else { throw Unexpected() }
            lastWait = wait
        }
        #expect(lastWait == .milliseconds(1))
        guard case .emit(let path) = emission.timerFired(at: at(50)) else { throw Unexpected() }
        #expect(path.ipv4.gateway == IPAddress("192.0.2.49"))  // the newest
        #expect(emission.suppressed == 48)
    }

    @Test func whatIsHeldBackIsKeptUpToDate() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(online, at: start)
        _ = emission.evaluated(otherOnline, at: at(10))
        var newer = otherOnline
        newer.ipv6.unsatisfiedReason = .addressPending  // of no consequence for the key
        #expect(emission.evaluated(newer, at: at(20)) == .none)
        #expect(emission.timerFired(at: at(50)) == .emit(numbered(newer, 2)))
    }

    @Test func aFlapWithinTheIntervalIsNotToldButCounted() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(online, at: start)
        _ = emission.evaluated(offline, at: at(10))
        #expect(emission.evaluated(online, at: at(20)) == .renumber(3))
        #expect(emission.evaluated(online, at: at(30)) == .none)
        #expect(emission.timerFired(at: at(50)) == .none)
        #expect(emission.generation == 3)
        #expect(emission.evaluated(offline, at: at(60)) == .emit(numbered(offline, 4)))
    }

    @Test func afterAPauseThePathIsToldAnew() {
        var emission = PathEmission(minimumInterval: .milliseconds(50))
        _ = emission.evaluated(online, at: start)
        emission.restart()
        // By two, because nobody knows what happened meanwhile.
        #expect(emission.evaluated(online, at: at(1)) == .emit(numbered(online, 3)))
    }

    @Test func aLossThatLastsIsToldWhenItHasSettled() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(online, at: start)
        #expect(emission.evaluated(offline, at: at(1000)) == .wait(.milliseconds(1500)))
        #expect(emission.timerFired(at: at(2499)) == .wait(.milliseconds(1)))
        #expect(emission.timerFired(at: at(2500)) == .emit(numbered(offline, 2)))
    }

    @Test func aLossThatIsOverBeforeItHasSettledIsCountedAlone() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(online, at: start)
        _ = emission.evaluated(offline, at: at(1000))
        #expect(emission.evaluated(online, at: at(2000)) == .renumber(3))
        #expect(emission.timerFired(at: at(2500)) == .none)
        #expect(emission.generation == 3)
        #expect(emission.suppressed == 1)
        #expect(emission.evaluated(offline, at: at(3000)) == .wait(.milliseconds(1500)))  // a loss of its own
    }

    @Test func thatTheNetworkIsThereIsNeverHeldDown() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(offline, at: start)
        #expect(emission.evaluated(online, at: at(50)) == .emit(numbered(online, 2)))
    }

    @Test func aNetworkThatComesBackAsAnotherIsToldAtOnce() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(online, at: start)
        _ = emission.evaluated(offline, at: at(1000))
        #expect(emission.evaluated(otherOnline, at: at(1100)) == .emit(numbered(otherOnline, 3)))
        #expect(emission.timerFired(at: at(2500)) == .none)
    }

    @Test func anotherReasonIsTheSameLoss() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(online, at: start)
        _ = emission.evaluated(offline, at: at(1000))
        var worse = offline
        worse.unsatisfiedReason = .noInterface
        #expect(emission.evaluated(worse, at: at(2000)) == .wait(.milliseconds(500)))
        #expect(emission.timerFired(at: at(2500)) == .emit(numbered(worse, 3)))
    }

    @Test func aHandoverIsNotHeldDown() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(online, at: start)
        #expect(emission.evaluated(otherOnline, at: at(100)) == .emit(numbered(otherOnline, 2)))
    }

    @Test func aLossRightAfterAHandoverWaitsForTheLongerTime() {
        var emission = PathEmission(minimumInterval: .milliseconds(500), settle: .milliseconds(100))
        _ = emission.evaluated(online, at: start)
        #expect(emission.evaluated(offline, at: at(100)) == .wait(.milliseconds(400)))
        #expect(emission.evaluated(otherOnline, at: at(200)) == .wait(.milliseconds(300)))
        #expect(emission.evaluated(offline, at: at(450)) == .wait(.milliseconds(100)))
        #expect(emission.timerFired(at: at(550)) == .emit(numbered(offline, 4)))
        #expect(emission.emitted == 2)
    }

    @Test func aFurtherLossIsNoLossToHoldDown() {
        var emission = PathEmission(minimumInterval: .milliseconds(50), settle: .milliseconds(1500))
        _ = emission.evaluated(offline, at: start)
        var worse = offline
        worse.unsatisfiedReason = .noInterface
        #expect(emission.evaluated(worse, at: at(100)) == .emit(numbered(worse, 2)))
    }

    private var otherOnline: NetworkPath {
        var path = online
        path.ipv4 = FamilyPath(interface: "eth1", interfaceIndex: 41)
        return path
    }

    private func at(_ milliseconds: Int) -> SuspendingClock.Instant { start + .milliseconds(milliseconds) }

    private func numbered(_ path: NetworkPath, _ generation: UInt64) -> NetworkPath {
        var path = path
        path.generation = generation
        return path
    }
}
