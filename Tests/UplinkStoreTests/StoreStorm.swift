// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// Everything at once, from many tasks: what ThreadSanitizer is to look at. Each test shows that it did overlap.
@Suite(.timeLimit(.minutes(Effort.isFull ? 10 : 2)), .undisturbed)
struct StoreStorm {
    private func store(_ directory: TemporaryDirectory) async throws -> Store {
        try await Store.open(
            directory.path.appending("db"), migrator: Lists.migrator, performer: StubNetworkOperationPerformer())
    }

    @Test func writersSyncsStreamsAndClearings() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let store = try await store(directory)
        let rounds = Effort.isFull ? 300 : 15
        let overlap = Overlap()
        let keys = (0..<4).map { "list \($0)" }
        let syncs = keys.map { key in
            StoreSync(key) { () -> [String]? in
                await overlap.during { for _ in 0..<20 { await Task.yield() } }
                return ["a", "b"]
            } write: { db, words in
                try Lists.write(words, to: key, db)
            } erase: { db in
                try Lists.erase(db, key)
            }
        }
        let count = StoreQuery("count") { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM word WHERE list = 'shared'") ?? -1
        }
        let recorder = StoreRecorder(store.stream(count))
        try await withThrowingDiscardingTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<rounds {
                        try await store.database.write { db in
                            try db.execute(
                                sql: "INSERT INTO word (list, text) VALUES ('shared', ?)",
                                arguments: ["\(writer) \(round)"])
                        }
                    }
                }
            }
            for sync in syncs {
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<rounds { _ = try? await store.sync(sync) } }
                    group.addTask {  // subscriptions that come and go
                        for _ in 0..<rounds {
                            var iterator = store.stream(Lists.query(sync.key), sync: sync).makeAsyncIterator()
                            _ = await iterator.next()
                            _ = await iterator.next()
                        }
                    }
                }
                group.addTask { for _ in 0..<rounds { try await store.clear(sync) } }
            }
        }
        try await eventually(within: .seconds(60)) { recorder.values.last == 4 * rounds }
        #expect(recorder.values == recorder.values.sorted())
        #expect(recorder.errors.isEmpty)
        try await eventually(within: .seconds(60)) { store.syncs.isIdle }
        #expect(overlap.most > 1, "syncs did not overlap")
        for sync in syncs {
            try await store.sync(sync)
            #expect(try await store.words(sync.key) == ["a", "b"])
        }
    }

    @Test func askersThatComeAndGoShareWhatRuns() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let store = try await store(directory)
        let running = Overlap()
        let askers = Overlap()
        let sync = StoreSync("a") { () -> Int? in
            await running.during { for _ in 0..<20 { await Task.yield() } }
            return 1
        } write: { _, _ in
        }
        let outcomes = Locked((shared: 0, cancelled: 0))
        try await withThrowingDiscardingTaskGroup { group in
            for asker in 0..<16 {
                group.addTask {
                    for round in 0..<(Effort.isFull ? 500 : 25) {
                        let task = Task { try await askers.during { try await store.sync(sync) } }
                        if (asker + round) % 3 == 0 {
                            await Task.yield()
                            task.cancel()
                        }
                        do {
                            _ = try await task.value
                            outcomes.withLock { $0.shared += 1 }
                        } catch is CancellationError {
                            outcomes.withLock { $0.cancelled += 1 }
                        }
                    }
                }
            }
        }
        try await eventually(within: .seconds(60)) { store.syncs.isIdle }
        #expect(askers.most > 1)
        #expect(outcomes.withLock { $0.shared } > 0)
        #expect(running.count < askers.count, "nobody shared")
    }

    @Test func anOutboxThatIsFilledEmptiedAndCancelledAtOnce() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let store = try await store(directory)
        let outbox = try Outbox(store)
        let handler = StubOutboxHandler()
        let sent = Locked<[String: [Int64]]>([:])
        let run = Task {
            try await outbox.run { entry in
                _ = try await handler(entry)
                sent.withLock { $0[entry.key, default: []].append(entry.id) }
                return .done { db in
                    try db.execute(sql: "INSERT INTO word (list, text) VALUES ('sent', ?)", arguments: ["\(entry.id)"])
                }
            }
        }
        let rounds = Effort.isFull ? 200 : 20
        let cancelled = Locked<Set<Int64>>([])
        let added = Locked<Set<Int64>>([])
        let told = Locked<OutboxState?>(nil)
        let reader = Task { for await state in outbox.states { told.withLock { $0 = state } } }
        handler.hold()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await eventually { handler.running > 1 }
                handler.release()
            }
            for key in 0..<6 {
                group.addTask {
                    for round in 0..<rounds {
                        let id = try await outbox.enqueue(key: "\(key)", payload: Data([UInt8(key)])).id
                        added.withLock { _ = $0.insert(id) }
                        if round % 5 == 4, try await outbox.cancel(id) == .cancelled {
                            cancelled.withLock { _ = $0.insert(id) }
                        }
                    }
                }
            }
        }
        try await eventually(within: .seconds(60)) { try await outbox.entries().isEmpty }
        // How many states a reader sees is its own affair; it does see the last one.
        try await eventually(within: .seconds(60)) {
            told.withLock { $0?.pending == 0 && $0?.sending.isEmpty == true }
        }
        reader.cancel()
        await reader.value
        run.cancel()
        _ = await run.result
        let all = sent.withLock { $0 }
        for (key, ids) in all { #expect(ids == ids.sorted(), "key \(key) was sent out of order") }
        let ids = all.values.flatMap { $0 }
        #expect(Set(ids).count == ids.count)
        #expect(Set(ids) == added.withLock { $0 }.subtracting(cancelled.withLock { $0 }))
        #expect(Set(try await store.words("sent").compactMap { Int64($0) }) == Set(ids))
        #expect(handler.overlaps == 0)
        #expect(handler.mostRunning > 1, "sendings did not overlap")
    }

    @Test func manyKeysLeaveNothingBehind() async throws {
        let keys = Effort.isFull ? 10_000 : 500
        weak var released: Store?
        do {
            let store = try Store.lists()
            released = store
            let query = StoreQuery("none") { _ in 0 }
            try await withThrowingDiscardingTaskGroup { group in
                for lane in 0..<16 {
                    group.addTask {
                        for key in stride(from: lane, to: keys, by: 16) {
                            let sync = StoreSync("\(key)", fetch: { 1 }, write: { _, _ in })
                            if key % 2 == 0 {
                                try await store.sync(sync)
                            } else {
                                var iterator = store.stream(query, sync: sync, request: .freshOnly).makeAsyncIterator()
                                while let element = await iterator.next(), element.value == nil {}
                            }
                        }
                    }
                }
            }
            try await eventually(within: .seconds(60)) { store.syncs.isIdle }
        }
        try await eventually(within: .seconds(60), "the store is released") { released == nil }
    }
}

/// How many were in a section at the same time, at most.
private final class Overlap: Sendable {
    private let state = Locked((running: 0, most: 0, count: 0))

    var most: Int { state.withLock { $0.most } }
    var count: Int { state.withLock { $0.count } }

    func during<T>(_ body: () async throws -> T) async rethrows -> T {
        state.withLock { state in
            state.running += 1
            state.count += 1
            state.most = max(state.most, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        return try await body()
    }
}
#endif
