// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct StubTests {
    @Test func theStandInRunsOrFailsAsToldAndRecords() async throws {
        let performer = StubNetworkOperationPerformer()
        #expect(try await performer.perform(within: .seconds(2), requiring: .ipv6) { 1 } == 1)
        performer.behaviour = .timesOut
        let result = await performer.perform(withinSeconds: 0.5) { 1 }
        guard case .failure(.notStarted(let error)) = result else {
            Issue.record("it ran")
            return
        }
        #expect(error.code == .timedOut)
        await #expect(throws: NetworkOperationError.self) {
            try await performer.performNetworkOperation(using: {}, withinSeconds: 1)
        }
        #expect(performer.calls.map(\.seconds) == [2, 0.5, 1])
        #expect(performer.calls.map(\.isSupervised) == [false, false, true])
        #expect(performer.calls[0].requirement.description == "IPv6")
    }

    /// As with the real one, which without a limit never says that it took too long.
    @Test func aCallWithoutALimitWaitsUntilTheTestSaysOtherwise() async throws {
        let performer = StubNetworkOperationPerformer(.timesOut)
        let waiting = Task { await performer.perform(withinSeconds: .infinity) { 1 } }
        let cancelled = Task { await performer.perform(withinSeconds: .infinity) { 2 } }
        let beyond = Task { try await performer.perform(within: .seconds(Int64.max)) { 3 } }  // 292 years and more
        try await eventually { performer.calls.count == 3 }
        for _ in 0..<100 { await Task.yield() }
        cancelled.cancel()
        guard case .failure(.notStarted(let error)) = await cancelled.value else {
            Issue.record("it ran")
            return
        }
        #expect(error.code == .cancelled)
        performer.behaviour = .timesOut
        performer.behaviour = .runs
        #expect(try await waiting.value.get() == 1)
        #expect(try await beyond.value == 3)
    }

    /// However many send at once, the last one told is the current one, and every number comes once.
    @Test func pathsFromManyThreadsAreAllTold() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let first = try #require(monitor.currentPath?.generation)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<200 { monitor.goOnline() } }
            }
        }
        #expect(monitor.currentPath?.generation == first + 1600)
    }

    @Test func theStandInRunsTheFormsWithAReactionOnce() async throws {
        let performer = StubNetworkOperationPerformer()
        #expect(try await performer.perform(completingWithin: .seconds(1), onLoss: .retry()) { 1 } == 1)
        #expect(try await performer.perform(within: .seconds(2), onLoss: .cancel) { 2 } == 2)
        #expect(performer.calls.map(\.isSupervised) == [true, false])
    }

    /// As with the real one; no time passes for the stand-in.
    @Test func theStandInsOperationSeesItsDeadline() async throws {
        let performer = StubNetworkOperationPerformer()
        let remaining = { @Sendable in OperationDeadline.current?.remaining }
        #expect(try await performer.perform(completingWithin: .seconds(3)) { remaining() } == .seconds(3))
        #expect(
            try await performer.perform(completingWithin: .seconds(2), onLoss: .cancel) { remaining() } == .seconds(2))
        let inside = try await performer.perform(completingWithin: .seconds(3)) {
            try await performer.perform(completingWithin: .seconds(60)) { remaining() }
        }
        #expect(inside == .seconds(3))  // as in the operation around it
        #expect(try await performer.perform(completingWithin: .seconds(Int64.max)) { remaining() } == nil)
        #expect(try await performer.perform(within: .seconds(3)) { remaining() } == nil)
        #expect(remaining() == nil)
    }

    @Test func theStubMonitorCountsStartsAndDoesNotLeak() async throws {
        weak var weakMonitor: StubNetworkMonitor?
        do {
            let monitor = StubNetworkMonitor(.online())
            weakMonitor = monitor
            for _ in 0..<3 { for try await _ in monitor.paths { break } }
            #expect(monitor.starts == 3)
        }
        #expect(weakMonitor == nil)
    }

    @Test func aRestartAfterAFailureIsCounted() async throws {
        let monitor = StubNetworkMonitor()
        for _ in 0..<2 {
            var paths = monitor.paths.makeAsyncIterator()
            monitor.fail(NetworkMonitorError(.failed, message: "gone"))
            await #expect(throws: NetworkMonitorError.self) { try await paths.next() }
        }
        #expect(monitor.starts == 2)
    }

    @Test func theStandInIsAsStrictAsTheRealOne() async throws {
        let performer = StubNetworkOperationPerformer()
        let result = await performer.perform(withinSeconds: .nan) { 1 }
        guard case .failure(.notStarted(let error)) = result else {
            Issue.record("it ran")
            return
        }
        #expect(error.code == .invalidArgument)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await performer.perform(within: .seconds(1)) { 1 }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func pathsSentInARowAreTold() async throws {
        let monitor = StubNetworkMonitor(.online())
        let first = try #require(monitor.currentPath)
        monitor.goOnline()
        #expect(monitor.currentPath != first)
        monitor.forget()
        #expect(monitor.currentPath == nil)
        monitor.goOnline()
        #expect(monitor.currentPath?.generation == first.generation + 3)  // one for what was not seen
    }
}
