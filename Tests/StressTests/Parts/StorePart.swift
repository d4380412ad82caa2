// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Uplink
import UplinkStore
import UplinkTesting

/// A store under writers, syncs that are cancelled and cleared, streams that come and go, and an outbox whose sender
/// fails, while the network flaps. What was written is there, and what was sent was sent once.
struct StorePart: StormPart {
    let name = "store"
    let kinds = ["synced", "cancelled", "shown", "sent"]

    private struct Own: Error {}

    private static let (tasks, rounds) = (4, 8)

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        weak var left: Store?
        try await withEventLoop { loop in
            let monitor = StubNetworkMonitor(.online())
            let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop))
            let store = try await Store.open(
                directory.path.appending("db"), migrator: Self.migrator, performer: performer)
            left = store
            let start = random.fork()
            let flapping = Task {
                var random = start
                while !Task.isCancelled {
                    monitor.goOffline()
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<500, using: &random)))
                    monitor.goOnline()
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<2000, using: &random)))
                }
            }
            try await storm(store, record, &random)
            flapping.cancel()
            await flapping.value
        }
        try await eventually(within: .seconds(120), "the store is released") { left == nil }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("words") { db in
            try db.create(table: "word") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("list", .text).notNull()
            }
        }
        return migrator
    }

    private static func add(_ list: String) -> @Sendable (Database) throws -> Void {
        { try $0.execute(sql: "INSERT INTO word (list) VALUES (?)", arguments: [list]) }
    }

    private static func count(_ list: String) -> StoreQuery<Int> {
        StoreQuery(list) { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM word WHERE list = ?", arguments: [list]) ?? -1
        }
    }

    private func storm(_ store: Store, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        var configuration = OutboxConfiguration()
        configuration.backoff = OutboxBackoff(initial: .milliseconds(1), maximum: .milliseconds(5))
        let outbox = try Outbox(store, configuration: configuration)
        let failing = Locked(random.fork())
        let sending = Task {
            try await outbox.run { _ in
                if failing.withLock({ $0.oneIn(3) }) { throw Own() }
                return .done(write: Self.add("sent"))
            }
        }
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<Self.tasks {
                let starts = [random.fork(), random.fork()]
                group.addTask { try await sync("key \(number % 2)", store, record, starts[0]) }
                group.addTask { await watch("key \(number % 2)", store, record, starts[1]) }
                group.addTask {
                    for _ in 0..<Self.rounds {
                        try await store.database.write(Self.add("written"))
                        record.begin()
                        try await outbox.enqueue(key: "\(number)", payload: Data())
                    }
                }
            }
        }
        try await eventually(within: .seconds(120), "the outbox is empty") { try await outbox.entries().isEmpty }
        sending.cancel()
        _ = await sending.result
        let rows = try await store.database.read { db in
            try ["written", "sent"].map { list in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM word WHERE list = ?", arguments: [list]) ?? -1
            }
        }
        record.expect(rows == [Self.tasks * Self.rounds, Self.tasks * Self.rounds], "written and sent: \(rows)")
        for _ in 0..<(rows.last ?? 0) { record.end("sent") }
    }

    /// Syncs, some of them cancelled, some failing, some cleared.
    private func sync(
        _ key: String, _ store: Store, _ record: StormRecord, _ start: SeededGenerator
    ) async throws {
        var random = start
        for _ in 0..<Self.rounds {
            let fails = random.oneIn(4)
            let sync = StoreSync(key, networkLimit: .seconds(30)) { () -> Int? in
                for _ in 0..<20 { await Task.yield() }
                if fails { throw Own() }
                return 1
            } write: { db, _ in
                try Self.add(key)(db)
            } erase: { db in
                try db.execute(sql: "DELETE FROM word WHERE list = ?", arguments: [key])
            }
            if random.oneIn(6) { try await store.clear(sync) }
            record.begin()
            let task = Task { try await store.sync(sync) }
            if random.oneIn(3) {
                await Task.yield()
                task.cancel()
            }
            do {
                _ = try await task.value
                record.end("synced")
            } catch is CancellationError {
                record.end("cancelled")
            } catch let error as StoreError {
                record.end("\(error.code)")
                record.expect([.fetchFailed, .cleared].contains(error.code), "a sync ended with \(error)")
            }
        }
    }

    /// Readers that come and go.
    private func watch(_ key: String, _ store: Store, _ record: StormRecord, _ start: SeededGenerator) async {
        var random = start
        for _ in 0..<Self.rounds {
            record.begin()
            let stream = store.stream(Self.count(key))
            if random.oneIn(2) {
                let reader = Task { for await _ in stream {} }
                for _ in 0..<Int.random(in: 0..<50, using: &random) { await Task.yield() }
                reader.cancel()
                await reader.value
            } else {
                var iterator = stream.makeAsyncIterator()
                record.expect(await iterator.next() != nil, "a stream ended by itself")
            }
            record.end("shown")
        }
    }
}
#endif
