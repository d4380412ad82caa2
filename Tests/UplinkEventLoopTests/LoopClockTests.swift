// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop

@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct LoopClockTests {
    @Test(arguments: [Duration.nanoseconds(1), .microseconds(1500), .milliseconds(1), .milliseconds(15)])
    func sleepsAreNeverEarly(_ duration: Duration) async throws {
        for _ in 0..<20 {
            let start = ContinuousClock.now
            try await LoopClock.shared.sleep(for: duration)
            #expect(ContinuousClock.now - start >= duration)
        }
    }

    @Test func whatHasPassedDoesNotSleep() async throws {
        try await LoopClock.shared.sleep(for: .seconds(-1))
        try await LoopClock.shared.sleep(until: LoopClock.shared.now)
    }

    @Test func cancellationWakesAtOnce() async throws {
        let start = ContinuousClock.now
        let task = Task { try await LoopClock.shared.sleep(for: .seconds(3600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func endlessSleepsCanBeCancelled() async throws {
        let task = Task { try await LoopClock.shared.sleep(for: .seconds(Int64.max)) }
        await Task.yield()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func shorterSleepsOvertakeLongerOnes() async throws {
        let order = Locked<[Int]>([])
        try await withThrowingDiscardingTaskGroup { group in
            for milliseconds in [60, 20, 40] {
                group.addTask {
                    try await LoopClock.shared.sleep(for: .milliseconds(milliseconds))
                    order.withLock { $0.append(milliseconds) }
                }
            }
        }
        #expect(order.withLock { $0 } == [20, 40, 60])
    }

    @Test func tenThousandSleepersAndCancellationsEndOnceEach() async throws {
        let outcomes = Locked((woken: 0, cancelled: 0))
        await withDiscardingTaskGroup { group in
            for index in 0..<10_000 {
                group.addTask {
                    let sleeper = Task { try await LoopClock.shared.sleep(for: .milliseconds(index % 20)) }
                    if index.isMultiple(of: 2) { sleeper.cancel() }
                    let isWoken = (try? await sleeper.value) != nil
                    outcomes.withLock { if isWoken { $0.woken += 1 } else { $0.cancelled += 1 } }
                }
            }
        }
        let (woken, cancelled) = outcomes.withLock { $0 }
        #expect(woken >= 5_000)
        #expect(woken + cancelled == 10_000)
    }

    @Test func sleepersOfALoopThatEndsAreWokenWithAnError() async throws {
        let sleeper = try await withEventLoop { loop in
            let clock = LoopClock(on: loop)
            let sleeper = Task { try await clock.sleep(for: .seconds(3600)) }
            try await clock.sleep(for: .milliseconds(5))  // real time: until the sleeper is asleep, most likely
            return sleeper
        }
        let error = await #expect(throws: EventLoopError.self) { try await sleeper.value }
        #expect(error?.code == .ended)
    }

    @Test func sleepsOnAnEndedLoopFailEachOfThem() async throws {
        let clock = try await withEventLoop { loop in
            let clock = LoopClock(on: loop)
            try await clock.sleep(for: .milliseconds(1))
            return clock
        }
        for seconds in [10, 3600, 7200, .max] {
            let error = await #expect(throws: EventLoopError.self) { try await clock.sleep(for: .seconds(seconds)) }
            #expect(error?.code == .ended)
        }
    }

    @Test func endlessSleepersHearThatTheirLoopEnds() async throws {
        let sleeper = try await withEventLoop { loop in
            let clock = LoopClock(on: loop)
            let sleeper = Task { try await clock.sleep(for: .seconds(Int64.max)) }
            try await clock.sleep(for: .milliseconds(5))  // real time: until the sleeper is asleep, most likely
            return sleeper
        }
        let error = await #expect(throws: EventLoopError.self) { try await sleeper.value }
        #expect(error?.code == .ended)
    }
}
