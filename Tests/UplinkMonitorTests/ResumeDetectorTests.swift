// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct ResumeDetectorTests {
    private func reading(awake: Duration, slept: Duration = .zero, readIn: Duration = .microseconds(1)) -> ClockReading
    {
        ClockReading(boottime: awake + slept + readIn / 2, monotonic: awake...awake + readIn)
    }

    private func slept(_ detector: inout ResumeDetector, _ reading: ClockReading) -> Duration? {
        detector.sleep(until: reading)
    }

    @Test func aJumpOfTheBootClockIsASleep() {
        var detector = ResumeDetector(reading(awake: .seconds(10)))
        let sleep = slept(&detector, reading(awake: .seconds(12), slept: .seconds(3600))) ?? .zero
        #expect(abs(sleep / .seconds(1) - 3600) < 0.001)
        #expect(slept(&detector, reading(awake: .seconds(13), slept: .seconds(3600))) == nil)
        #expect(slept(&detector, reading(awake: .seconds(14), slept: .seconds(3601))) != nil)
    }

    @Test func aClockThatIsSetIsNoSleep() {
        // The wall clock is none of the two, so that both go on as before.
        var detector = ResumeDetector(reading(awake: .seconds(10)))
        for second in 11..<20 { #expect(slept(&detector, reading(awake: .seconds(second))) == nil) }
    }

    @Test func beingHeldUpBetweenTwoReadingsIsNoSleep() {
        var detector = ResumeDetector(reading(awake: .seconds(10), readIn: .milliseconds(700)))
        #expect(slept(&detector, reading(awake: .seconds(11), readIn: .milliseconds(900))) == nil)
        #expect(slept(&detector, reading(awake: .seconds(12))) == nil)
        #expect(slept(&detector, reading(awake: .seconds(13), readIn: .milliseconds(900))) == nil)
        // What was read best is kept: the sleep shows, though the clocks were read carelessly in between.
        #expect(slept(&detector, reading(awake: .seconds(14), slept: .seconds(1))) != nil)
    }

    @Test func aSleepOfBeforeIsNotCounted() {
        var detector = ResumeDetector(reading(awake: .seconds(10), slept: .seconds(500)))
        #expect(slept(&detector, reading(awake: .seconds(11), slept: .seconds(500))) == nil)
    }

    @Test func theKernelsClocksAreReadInOrder() {
        var detector = ResumeDetector(.now)
        let reading = ClockReading.now
        #expect(reading.boottime >= reading.monotonic.lowerBound)
        #expect(slept(&detector, reading) == nil)
    }
}
