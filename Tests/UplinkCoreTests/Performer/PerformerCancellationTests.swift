// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerCancellationTests {
    @Test(arguments: [NetworkPath.online(), .offline()])
    func cancelledBeforeTheCallTheOperationNeverRuns(_ path: NetworkPath) async throws {
        let fixture = PerformerFixture(path)
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await fixture.performer.perform(withinSeconds: 1000) { fixture.count() }
        }
        let result = await call.value
        #expect(result.notStartedCode() == .cancelled)
        #expect("\(result)".contains("cancelled before the operation could start"))  // the network may have been there
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test func cancelledWhileWaitingItEndsAsCancelled() async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: 1000)
        try await fixture.waitForCalls(1)
        call.cancel()
        #expect(await call.value.notStartedCode() == .cancelled)
        fixture.monitor.goOnline()
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test func theThrowingFormThrowsCancellationError() async throws {
        let fixture = PerformerFixture(.offline())
        let call = Task { try await fixture.performer.perform(within: .seconds(1000)) { fixture.count() } }
        try await fixture.waitForCalls(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func cancelledWhileItRunsTheOperationSeesItAndDecides() async throws {
        let fixture = PerformerFixture(.online())
        let started = Gate()
        let call = Task {
            await fixture.performer.perform(withinSeconds: 1) {
                started.open()
                while !Task.isCancelled { await Task.yield() }
                return "its own value"
            }
        }
        await started.wait()
        call.cancel()
        #expect(try await call.value.get() == "its own value")
    }

    @Test func aCancelledParentCancelsAllItsPerforms() async throws {
        let fixture = PerformerFixture(.offline())
        let parent = Task {
            await withTaskGroup(of: NetworkOperationError.Code?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await fixture.performer.perform(withinSeconds: 1000) { fixture.count() }.notStartedCode()
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        try await fixture.waitForCalls(20)
        parent.cancel()
        #expect(await parent.value == Array(repeating: .cancelled, count: 20))
        try await fixture.expectNothingIsLeft()
    }

    @Test func aHundredThousandWaitersCancelledWhileTheNetworkComes() async throws {
        let (fixture, count) = (PerformerFixture(.offline()), PerformerFixture.multitude)
        let calls = (0..<count).map { _ in fixture.start(withinSeconds: 1000) }
        try await fixture.waitForCalls(count)
        async let cancelling: Void = { for call in calls { call.cancel() } }()
        fixture.monitor.goOnline()
        await cancelling
        var (started, cancelled) = (0, 0)
        for call in calls {
            switch await call.value {
            case .success: started += 1
            case .failure(.notStarted(let error)):
                #expect(error.code == .cancelled)
                cancelled += 1
            case .failure(.operation): break
            }
        }
        #expect(started == fixture.runCount)
        #expect(started + cancelled == count)
        try await fixture.expectNothingIsLeft()
    }
}

/// Opens once; those who wait go on then.
final class Gate: Sendable {
    private let isOpen = Locked(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait() async { while !isOpen.withLock({ $0 }) { await Task.yield() } }
}
