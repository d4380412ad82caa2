// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import SystemPackage
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// The file of an outbox's lock, which somebody removes: it has to stay, and as little as can be is sent twice.
@Suite(.timeLimit(.minutes(1)))
struct OutboxLockTests: OutboxSuite {
    private let directory: TemporaryDirectory
    private var path: FilePath { directory.path.appending("db") }

    init() throws { directory = try TemporaryDirectory() }

    private func open(
        _ performer: any NetworkOperationPerforming = StubNetworkOperationPerformer()
    ) async throws(StoreError) -> Store {
        try await Store.open(path, migrator: Lists.migrator, performer: performer)
    }

    private func removeLock() throws {
        let name = try #require(directory.names.first { $0.hasSuffix(".lock") })
        try FileManager.default.removeItem(atPath: directory.path.appending(name).string)
    }

    private func code(_ run: Task<Void, any Error>) async -> StoreError.Code? {
        do {
            try await run.value
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    /// The lock that it waited for keeps nobody else out.
    @Test func whoseFileIsRemovedWhileItWaitsLocksTheNextOne() async throws {
        defer { directory.remove() }
        let outbox = try Outbox(try await open())
        var changer = try OutboxLock.changing(outbox.name, beside: path)
        #expect(changer != nil)
        let lock = try await OutboxLock.running(outbox.name, beside: path) { _ in
            try? removeLock()
            changer = nil
        }
        let beside = try OutboxLock.changing(outbox.name, beside: path)
        #expect(beside == nil)
        withExtendedLifetime(lock) {}
    }

    /// As in a file system of the network without its lock service: nobody else is to blame.
    @Test func whatCannotBeLockedIsNotInUse() async throws {
        defer { directory.remove() }
        let path = path
        let error = await #expect(throws: StoreError.self) {
            try await offPool {
                try #require(Sandbox.refuse(.flock, with: ENOLCK))
                _ = try OutboxLock.changing("o", beside: path)
            }
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("No locks available") == true)
    }

    @Test func whoRunsAnOutboxLocksItAnew() async throws {
        defer { directory.remove() }
        let outbox = try Outbox(try await open())
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        try await eventually { outbox.core.withLock { $0.runner != nil } }
        try removeLock()
        handler.hold()
        try await add(outbox, "a", "1")
        try await eventually { handler.running == 1 }
        let beside = try OutboxLock.changing(outbox.name, beside: path)
        #expect(beside == nil)
        handler.release()
        try await eventually { try await outbox.entries().isEmpty }
        await stop(run)
    }

    @Test func whoComesSecondSendsNothingMore() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(), try await open())
        let outbox = try Outbox(store)
        let (handler, faster) = (StubOutboxHandler(), StubOutboxHandler())
        let run = start(outbox, handler)
        try await eventually { outbox.core.withLock { $0.runner != nil } }
        try removeLock()
        let next = try Outbox(other)
        faster.hold()
        try await add(next, "a", "1")
        let second = start(next, faster)
        try await eventually { faster.running == 1 }
        try await add(outbox, "b", "2")
        try await eventually { outbox.core.withLock { $0.runner == nil } }
        #expect(await code(run) == .outboxInUse)
        #expect(handler.entries.isEmpty)
        faster.release()
        try await eventually { try await outbox.entries().map(\.key) == ["b"] }
        await stop(second)
    }

    /// What was claimed under the old lock is not sent under it, however long it has waited.
    @Test func whatWaitsForTheNetworkIsNotSentByWhoComesSecond() async throws {
        defer { directory.remove() }
        let monitor = StubNetworkMonitor(.offline())
        let offline = NetworkOperationPerformer(monitor: monitor, clock: ManualClock())
        let (store, other) = (try await open(offline), try await open())
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        let (handler, faster) = (StubOutboxHandler(), StubOutboxHandler())
        let run = start(outbox, handler)
        try await eventually { await outbox.state(after: nil).isWaiting }
        try removeLock()
        faster.hold()
        let next = try Outbox(other)
        let second = Task {
            while true {
                do {
                    try await next.run { try await faster($0) }
                } catch let error as StoreError where error.code == .outboxInUse {
                    try removeLock()  // the first one looked once more before this came, and locked anew
                }
            }
        }
        try await eventually { faster.running == 1 }
        monitor.goOnline()
        try await eventually { outbox.core.withLock { $0.runner == nil } }
        #expect(await code(run) == .outboxInUse)
        #expect(handler.entries.isEmpty)
        faster.release()
        try await eventually { try await outbox.entries().isEmpty }
        #expect(faster.entries.count == 1)
        await stop(second)
    }
}
#endif
