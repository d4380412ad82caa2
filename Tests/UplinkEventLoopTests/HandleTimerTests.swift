// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkEventLoop

/// An actor with one timer, which it counts the firings of.
private actor Alarm: LoopActor {
    nonisolated let eventLoop: EventLoop
    private var timer: LoopTimer?
    private(set) var fired = 0

    init(on loop: EventLoop) { eventLoop = loop }

    /// Does something with the timer, in one turn, and returns how often it has fired by the end of that.
    @discardableResult
    func use(_ body: @Sendable (LoopTimer) -> Void) throws -> Int {
        if timer == nil { timer = try LoopTimer(for: self) { $0.note() } }
        if let timer { body(timer) }
        return fired
    }

    private func note() { fired += 1 }
}

/// A timer that is started anew, stopped, or set to the ends of time. Real time, because libuv's is what is tested.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct HandleTimerTests {
    /// Waits by the loop's own timers: what was due before would have fired by the end of it.
    private func pass(_ time: Duration, on loop: EventLoop) async throws {
        try await LoopClock(on: loop).sleep(for: time)
    }

    @Test func aTimerThatIsStoppedDoesNotFire() async throws {
        try await withEventLoop { loop in
            let alarm = Alarm(on: loop)
            try await alarm.use { timer in
                timer.start(after: .milliseconds(20))
                timer.stop()
            }
            try await pass(.milliseconds(50), on: loop)
            #expect(await alarm.fired == 0)
        }
    }

    @Test func anEarlierTimeReplacesALaterOne() async throws {
        let limit = Timing.limit(Timing.slack(.milliseconds(100)), otherwise: .seconds(5))
        try await withEventLoop { loop in
            let alarm = Alarm(on: loop)
            let start = ContinuousClock.now
            try await alarm.use { timer in
                timer.start(after: .seconds(10))
                timer.start(after: .milliseconds(10))
            }
            try await eventually("the timer fires") { await alarm.fired > 0 }
            let time = ContinuousClock.now - start
            #expect(time >= .milliseconds(10))
            #expect(time < limit, "\(time)")
            try await pass(.milliseconds(30), on: loop)
            #expect(await alarm.fired == 1)
        }
    }

    @Test func aLaterTimeReplacesAnEarlierOne() async throws {
        try await withEventLoop { loop in
            let alarm = Alarm(on: loop)
            try await alarm.use { timer in
                timer.start(after: .milliseconds(10))
                timer.start(after: .seconds(3600))
            }
            try await pass(.milliseconds(40), on: loop)
            #expect(await alarm.fired == 0)
        }
    }

    @Test(arguments: [Int64(0), -1, -1_000_000_000, Int64.min])
    func aTimeThatHasPassedFiresOnceAndNotInTheCallItself(_ nanoseconds: Int64) async throws {
        try await withEventLoop { loop in
            let alarm = Alarm(on: loop)
            let firedInTheCall = try await alarm.use { $0.start(afterNanoseconds: nanoseconds) }
            #expect(firedInTheCall == 0)
            try await eventually("the timer fires") { await alarm.fired > 0 }
            try await pass(.milliseconds(5), on: loop)
            #expect(await alarm.fired == 1)
        }
    }

    /// Three centuries, which are no time in the past and no reason to trap; and the timer is as good as before.
    @Test(arguments: [Int64.max, Int64.max - 1, Int64.max / 2])
    func aTimeThatNeverComesNeverFires(_ nanoseconds: Int64) async throws {
        try await withEventLoop { loop in
            let alarm = Alarm(on: loop)
            try await alarm.use { $0.start(afterNanoseconds: nanoseconds) }
            try await pass(.milliseconds(20), on: loop)
            #expect(await alarm.fired == 0)
            try await alarm.use { $0.start(after: .zero) }
            try await eventually("the timer fires") { await alarm.fired == 1 }
        }
    }
}
