// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// Entries that somebody wants tried again.
@Suite(.timeLimit(.minutes(1)))
struct OutboxRetryTests: OutboxSuite {
    @Test func aRetryDuringTheLastAttemptIsTriedAtOnce() async throws {
        let clock = ManualClock()
        var configuration = OutboxConfiguration()
        configuration.maximumAttempts = 2
        let outbox = try Outbox(try Store.stubbed(clock: clock), configuration: configuration)
        try await add(outbox, "a", "1")
        let calls = Locked(0)
        let run = Task {
            try await outbox.run { entry in
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                let isRetried = call == 2 ? try await outbox.retry(entry.id) : true
                #expect(isRetried)
                return call < 3 ? .tryAgain(reason: "busy") : .done()
            }
        }
        try await clock.advance(by: .seconds(2), patience: .seconds(30))
        try await eventually { try await outbox.entries().isEmpty }
        #expect(calls.withLock { $0 } == 3)
        await stop(run)
    }

    /// The later one has not begun, though the performer holds it.
    @Test func aRetriedEntryIsSentBeforeALaterOneThatWaitsForTheNetwork() async throws {
        let monitor = StubNetworkMonitor(.online())
        let store = try Store.lists(performer: NetworkOperationPerformer(monitor: monitor, clock: ManualClock()))
        let outbox = try Outbox(store)
        let handler = StubOutboxHandler(.failed(reason: "not like this"), .done())
        try await add(outbox, "a", "1")
        let run = start(outbox, handler)
        try await eventually { try await outbox.entries().first?.isFailed == true }
        monitor.goOffline()
        try await add(outbox, "a", "2")
        var states = outbox.states.makeAsyncIterator()
        while let state = await states.next(), !state.isWaiting {}
        #expect(try await outbox.retry(try await outbox.entries()[0].id))
        monitor.goOnline()
        try await eventually { try await outbox.entries().isEmpty }
        #expect(texts(handler) == ["1", "1", "2"])
        await stop(run)
    }
}
#endif
