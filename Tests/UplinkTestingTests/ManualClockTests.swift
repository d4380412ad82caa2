// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct ManualClockTests {
    @Test func advancingWaitsForTheSleeperThenWakesIt() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(3600)) }
        try await clock.advance(by: .seconds(3600))
        try await task.value
        #expect(clock.now.offset == .seconds(3600))
    }

    @Test func sleepersAreWokenInOrderAndNotTooEarly() async throws {
        let clock = ManualClock()
        let woken = Locked<[Int]>([])
        let tasks = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                woken.withLock { $0.append(seconds) }
            }
        }
        try await clock.waitForSleepers(3)
        for _ in 1...3 {
            let before = woken.withLock { $0.count }
            clock.move(by: .seconds(1))
            try await eventually { woken.withLock { $0.count } > before }
        }
        for task in tasks { try await task.value }
        #expect(woken.withLock { $0 } == [1, 2, 3])
    }

    @Test func missingSleepersAreAnErrorThatNamesThoseWhoCame() async throws {
        let clock = ManualClock()
        let task = Task(name: "loader") { try await clock.sleep(for: .seconds(5)) }
        try await clock.waitForSleepers()  // or the patience might end before it sleeps
        let error = await #expect(throws: ManualClockError.self) {
            try await clock.advance(by: .seconds(1), sleepers: 2, patience: .milliseconds(50))
        }
        #expect(error?.message.contains("loader") == true)
        #expect(clock.now.offset == .zero)
        let left = #expect(throws: ManualClockError.self) { try clock.checkNobodySleeps() }
        #expect(left?.message.contains("loader") == true)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try clock.checkNobodySleeps()
    }

    @Test func noDurationIsTooLong() async throws {
        let clock = ManualClock()
        let longest = Duration(attoseconds: .max)
        clock.move(by: .seconds(1))
        let task = Task { try await clock.sleep(for: longest) }
        try await clock.waitForSleepers(patience: longest)
        let another = Task { try await clock.waitForSleepers(2, patience: longest) }
        clock.move(by: longest)
        try await task.value
        clock.move(by: longest)
        another.cancel()
        await #expect(throws: CancellationError.self) { try await another.value }
    }

    @Test func withoutPatienceNobodyWaitsForEver() async throws {
        let clock = ManualClock()
        await withDiscardingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    await #expect(throws: ManualClockError.self) { try await clock.waitForSleepers(patience: .zero) }
                }
            }
        }
    }

    @Test func whatHasPassedDoesNotSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
    }

    @Test func cancelledBeforeTheSleepItThrowsAtOnce() async throws {
        let clock = ManualClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try clock.checkNobodySleeps()
    }

    @Test func aCancelledTestStopsWaitingForSleepers() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.waitForSleepers() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
