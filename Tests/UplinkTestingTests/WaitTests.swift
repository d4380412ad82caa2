// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore
import UplinkTesting

/// The waits of the test kit: they end when it comes, and when it does not.
@Suite(.timeLimit(.minutes(1)))
struct WaitTests {
    private struct Fault: Error {}

    /// The limits that the waits have of themselves are ten seconds and more.
    private func isPrompt(_ start: ContinuousClock.Instant) -> Bool { ContinuousClock.now - start < .seconds(10) }

    // MARK: Any condition

    @Test func aConditionIsLookedAtUntilItHolds() async throws {
        var looks = 0
        try await eventually {
            looks += 1
            return looks == 505  // after those between which other tasks have a turn
        }
        #expect(looks == 505)
    }

    @Test func whatAnotherTaskBringsAboutIsSeen() async throws {
        let (looks, isThere) = (Locked(0), Locked(false))
        let other = Task {
            while looks.withLock({ $0 }) < 3 { await Task.yield() }
            isThere.withLock { $0 = true }
        }
        try await eventually("the other task is done") {
            looks.withLock { $0 += 1 }
            return isThere.withLock { $0 }
        }
        #expect(isThere.withLock { $0 })
        #expect(looks.withLock { $0 } >= 3)
        await other.value
    }

    @Test func whatIsWaitedForInVainIsNamed() async throws {
        let start = ContinuousClock.now
        let error = await #expect(throws: WaitedInVain.self) {
            try await eventually(within: .milliseconds(1), "the moon") { false }
        }
        #expect(isPrompt(start))
        #expect(error?.expectation == "the moon" && error?.limit == .milliseconds(1))
        #expect(error?.description == "waited 0.001 seconds in vain for: the moon")
        await #expect(throws: Fault.self) { try await eventually { throw Fault() } }
    }

    /// Without a limit worth the name it looks once, and does not wait for what is there.
    @Test func aLimitOfZeroIsOneLook() async throws {
        var looks = 0
        await #expect(throws: WaitedInVain.self) {
            try await eventually(within: .zero) {
                looks += 1
                return false
            }
        }
        #expect(looks == 1)
        try await eventually(within: .zero) { true }
    }

    @Test func aCancelledWaitEndsAtOnce() async throws {
        let looks = Locked(0)
        let waiting = Task {
            try await eventually(within: .seconds(3600)) {
                looks.withLock { $0 += 1 }
                return false
            }
        }
        try await eventually { looks.withLock { $0 } > 0 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    // MARK: Subscribers

    /// Who waits for the clock alone moves it before the call has heard of the network, as often as not.
    @Test(arguments: 1...50)
    func newsOfTheNetworkIsAwaited(_ round: Int) async throws {
        let (clock, monitor) = (ManualClock(), StubNetworkMonitor(.online()))
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let call = Task {
            try await performer.perform(within: .seconds(60), requiring: .stable(for: .seconds(5))) { clock.now.offset }
        }
        try await clock.advance(by: .seconds(4))
        monitor.goOffline()
        monitor.goOnline()
        try await monitor.waitForSubscribers()
        for _ in 5...9 { try await clock.advance(by: .seconds(1)) }
        #expect(try await call.value == .seconds(9))
    }

    @Test func subscribersThatComeLaterAreAwaited() async throws {
        let (monitor, hasReturned) = (StubNetworkMonitor(.online()), Locked(false))
        let waiting = Task {
            try await monitor.waitForSubscribers(2)
            hasReturned.withLock { $0 = true }
        }
        for _ in 0..<1000 { await Task.yield() }
        #expect(!hasReturned.withLock { $0 })
        let first = Task { for try await _ in monitor.paths {} }
        try await monitor.waitForSubscribers()
        await #expect(throws: WaitedInVain.self) {
            try await monitor.waitForSubscribers(2, patience: .milliseconds(1))
        }
        let second = Task { for try await _ in monitor.paths {} }
        try await waiting.value
        #expect(hasReturned.withLock { $0 } && monitor.isObserved)
        for subscriber in [first, second] {
            subscriber.cancel()
            _ = await subscriber.result
        }
    }

    @Test func subscribersThatDoNotComeAreNamed() async throws {
        let monitor = StubNetworkMonitor(.online())
        let start = ContinuousClock.now
        var error = await #expect(throws: WaitedInVain.self) {
            try await monitor.waitForSubscribers(2, patience: .milliseconds(1))
        }
        #expect(error?.expectation.contains("2 or more subscribers") == true)
        // Nor does one count that has not taken what was told.
        let paths = monitor.paths.makeAsyncIterator()
        error = await #expect(throws: WaitedInVain.self) {
            try await monitor.waitForSubscribers(patience: .milliseconds(1))
        }
        #expect(error?.limit == .milliseconds(1))
        #expect(isPrompt(start))
        withExtendedLifetime(paths) {}
    }
}
