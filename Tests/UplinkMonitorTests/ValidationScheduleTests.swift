// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct ValidationScheduleTests {
    private typealias Action = ValidationSchedule.Action
    private let start = SuspendingClock.now
    private let way = FamilyWay(FamilyPath(interface: "eth0", interfaceIndex: 40))
    private let otherWay = FamilyWay(FamilyPath(interface: "eth1", interfaceIndex: 41))

    private func schedule(interval: Duration? = nil) -> ValidationSchedule {
        ValidationSchedule(
            PathValidator(
                ValidationProbe { _, _ in .probing }, timeout: .seconds(10), longestPause: .seconds(5),
                interval: interval))
    }

    private func at(_ seconds: Double) -> SuspendingClock.Instant { start + .seconds(seconds) }

    private var isValidated: PathValidation { .validated(at: .now) }

    @Test func aWayIsProbedAtOnce() {
        var schedule = schedule()
        #expect(schedule.verdict == .disabled)
        #expect(schedule.wayIs(way, at: start) == Action(start: 1, wait: .seconds(10)))
        #expect(schedule.verdict == .probing)
        #expect(schedule.wayIs(way, at: at(1)) == Action(wait: .seconds(9)))
    }

    @Test func afterSuccessItRests() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        let found = isValidated
        #expect(schedule.probeEnded(1, found, at: at(1)) == Action())
        #expect(schedule.verdict == found)
        #expect(schedule.timerFired(at: at(1000)) == Action())
    }

    @Test func anIntervalOfAnyLengthCanBeWaitedFor() {
        var schedule = schedule(interval: Duration(attoseconds: .max))
        _ = schedule.wayIs(way, at: start)
        #expect(schedule.probeEnded(1, isValidated, at: at(1)) == Action(wait: .nanoseconds(Int64.max)))
    }

    @Test func withAnIntervalASuccessIsProbedAgainAndKnownMeanwhile() {
        var schedule = schedule(interval: .seconds(60))
        _ = schedule.wayIs(way, at: start)
        let found = isValidated
        #expect(schedule.probeEnded(1, found, at: at(1)) == Action(wait: .seconds(60)))
        #expect(schedule.timerFired(at: at(61)) == Action(start: 2, wait: .seconds(10)))
        #expect(schedule.verdict == found)
    }

    @Test func pausesDoubleUpToTheLongestWhileProbesFail() {
        var (schedule, now) = (schedule(), start)
        var pauses: [Duration] = []
        _ = schedule.wayIs(way, at: now)
        for probe in UInt64(1)...6 {
            guard let pause = schedule.probeEnded(probe, .failed("refused"), at: now).wait else { break }
            pauses.append(pause)
            now += pause
            #expect(schedule.timerFired(at: now) == Action(start: probe + 1, wait: .seconds(10)))
            #expect(schedule.verdict == .failed("refused"))
        }
        #expect(pauses == [1, 2, 4, 5, 5, 5].map { .seconds($0) })
        #expect(schedule.probeEnded(7, isValidated, at: now) == Action())
        _ = schedule.report(at: now + .seconds(1))
        #expect(schedule.probeEnded(8, .failed("refused"), at: now).wait == .seconds(1))  // from the beginning
    }

    @Test func aCaptivePortalIsAskedUntilItLetsGo() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        #expect(schedule.probeEnded(1, .captivePortal(url: "http://portal/"), at: at(1)) == Action(wait: .seconds(1)))
        #expect(schedule.verdict == .captivePortal(url: "http://portal/"))
    }

    @Test func aProbeThatTakesTooLongHasFailed() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        #expect(schedule.timerFired(at: at(9)) == Action(wait: .seconds(1)))
        #expect(schedule.timerFired(at: at(10)) == Action(cancel: 1, wait: .seconds(1)))
        #expect(schedule.verdict.state == .failed)
        #expect(schedule.probeEnded(1, isValidated, at: at(10.5)) == Action(wait: .seconds(0.5)))  // too late
        #expect(schedule.verdict.state == .failed)
    }

    @Test func anotherWayCancelsTheProbeAndBeginsAnew() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        #expect(schedule.wayIs(otherWay, at: at(1)) == Action(cancel: 1, start: 2, wait: .seconds(10)))
        #expect(schedule.probeEnded(1, isValidated, at: at(2)) == Action(wait: .seconds(9)))
        #expect(schedule.verdict == .probing)
        _ = schedule.probeEnded(2, isValidated, at: at(3))
        #expect(schedule.wayIs(way, at: at(4)) == Action(start: 3, wait: .seconds(10)))
        #expect(schedule.verdict == .probing)
    }

    @Test func aWayThatFlapsIsProbedNoMoreThanOnceASecond() {
        var schedule = schedule()
        #expect(schedule.wayIs(way, at: start) == Action(start: 1, wait: .seconds(10)))
        for _ in 0..<100 {
            _ = schedule.wayIs(nil, at: at(0.25))
            #expect(schedule.verdict == .disabled)
            #expect(schedule.wayIs(way, at: at(0.25)) == Action(wait: .seconds(0.75)))
            #expect(schedule.verdict == .probing)
            #expect(schedule.wayIs(otherWay, at: at(0.5)) == Action(wait: .seconds(0.5)))
        }
        #expect(schedule.timerFired(at: at(0.75)) == Action(wait: .seconds(0.25)))
        #expect(schedule.timerFired(at: at(1)) == Action(start: 2, wait: .seconds(10)))
        #expect(schedule.wayIs(way, at: at(1.25)) == Action(cancel: 2, wait: .seconds(0.75)))
        #expect(schedule.probeEnded(2, isValidated, at: at(1.5)) == Action(wait: .seconds(0.5)))
        #expect(schedule.verdict == .probing)
        #expect(schedule.timerFired(at: at(2)) == Action(start: 3, wait: .seconds(10)))
    }

    @Test func withoutAWayNothingIsProbedOrKnown() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        #expect(schedule.wayIs(nil, at: at(1)) == Action(cancel: 1))
        #expect(schedule.verdict == .disabled)
        #expect(schedule.wayIs(nil, at: at(2)) == Action())
        #expect(schedule.restart(at: at(2)) == Action())
        #expect(schedule.report(at: at(2)) == Action())
        #expect(schedule.timerFired(at: at(2)) == Action())
    }

    @Test func afterASleepItBeginsAnew() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        _ = schedule.probeEnded(1, isValidated, at: at(1))
        #expect(schedule.restart(at: at(2)) == Action(start: 2, wait: .seconds(10)))
        #expect(schedule.verdict == .probing)
        #expect(schedule.restart(at: at(3)) == Action(cancel: 2, start: 3, wait: .seconds(10)))
    }

    @Test func reportsAreHeardButNoMoreThanOnceASecond() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        #expect(schedule.report(at: at(1)) == Action(wait: .seconds(9)))  // it is being probed
        let found = isValidated
        _ = schedule.probeEnded(1, found, at: at(2))
        for _ in 0..<1000 { #expect(schedule.report(at: at(2.25)) == Action(wait: .seconds(0.75))) }
        #expect(schedule.verdict == found)
        #expect(schedule.timerFired(at: at(3)) == Action(start: 2, wait: .seconds(10)))
        #expect(schedule.verdict == found)
        _ = schedule.probeEnded(2, found, at: at(4))
        #expect(schedule.report(at: at(9)) == Action(start: 3, wait: .seconds(10)))
    }

    @Test func whatSaysNothingHasFailed() {
        var schedule = schedule()
        _ = schedule.wayIs(way, at: start)
        _ = schedule.probeEnded(1, .disabled, at: at(1))
        #expect(schedule.verdict.state == .failed)
    }

    @Test func senselessTimesAreTakenAsTheNearestThatMakeSense() {
        let validator = PathValidator(
            ValidationProbe { _, _ in .probing }, timeout: .seconds(-1), firstPause: .zero, longestPause: .zero,
            interval: .zero)
        #expect(validator.timeout == .milliseconds(100))
        #expect(validator.firstPause == .milliseconds(100) && validator.longestPause == .milliseconds(100))
        #expect(validator.interval == .seconds(1))
    }
}
