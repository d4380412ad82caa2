// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import Glibc
import SystemPackage
import UplinkCore
import UplinkStore

/// Syncs, adds to an outbox and sends it, all at once. The server is a file that outlives the process.
struct Work {
    static let piecesOfABatch = 20
    private let path: FilePath
    private let server: CInt

    init(_ path: FilePath, server: String) throws {
        self.path = path
        self.server = Glibc.open(server, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard self.server >= 0 else { throw StoreError(.cannotOpen, message: server) }
    }

    /// Prints `batch N` for each batch that was synced and `entry N` for each entry that was added.
    func run(untilEmpty: Bool) async throws {
        let store = try await Openings.store(path)
        let outbox = try Outbox(store)
        say("ready")
        try await withThrowingTaskGroup { group in
            group.addTask { try await outbox.run { try send($0) } }
            if untilEmpty {
                for await state in outbox.states where state.pending == 0 { break }
                say("empty")
            } else {
                for lane in 0..<2 { group.addTask { try await sync(store, lane) } }
                for key in ["a", "b", "c"] { group.addTask { try await add(outbox, store, key) } }
                try await group.next()
            }
            group.cancelAll()
        }
    }

    /// One line in one write: the server has seen it.
    private func send(_ entry: OutboxEntry) throws -> OutboxVerdict {
        let text = String(decoding: entry.payload, as: UTF8.self)
        let line = Array("\(entry.key) \(text) \(entry.idempotencyKey)\n".utf8)
        guard line.withUnsafeBytes({ write(server, $0.baseAddress, $0.count) }) == line.count else {
            return .tryAgain(reason: "the server is full")
        }
        return .done { db in try db.execute(sql: "INSERT INTO result VALUES (?)", arguments: ["\(entry.key) \(text)"]) }
    }

    private func sync(_ store: Store, _ lane: Int) async throws {
        while true {
            // The next batch of this lane, as a server would give it: after what is there. One lane counts the odd
            // numbers.
            let last = try await store.database.read { db in
                try Int.fetchOne(db, sql: "SELECT MAX(number) FROM batch WHERE number % 2 = ?", arguments: [lane])
            }
            let number = (last ?? -lane) + 2
            let sync = StoreSync("batches of \(lane)", fetch: { number }) { db, number in
                for piece in 0..<Self.piecesOfABatch {
                    try db.execute(
                        sql: "INSERT INTO piece (batch, number, filling) VALUES (?, ?, randomblob(100))",
                        arguments: [number, piece])
                }
                try db.execute(sql: "INSERT INTO batch VALUES (?)", arguments: [number])
            }
            try await store.sync(sync)
            say("batch \(number)")
        }
    }

    private func add(_ outbox: Outbox, _ store: Store, _ key: String) async throws {
        while true {
            let number = try await store.database.write { db in
                let sent = try Int.fetchOne(
                    db, sql: "SELECT COUNT(*) FROM result WHERE entry LIKE ?", arguments: ["\(key) %"])
                let waiting = try Int.fetchOne(
                    db, sql: "SELECT COUNT(*) FROM uplink_outbox WHERE key = ?", arguments: [key])
                let number = (sent ?? 0) + (waiting ?? 0) + 1
                try outbox.enqueue(key: key, payload: Data("\(number)".utf8), in: db)
                return number
            }
            say("entry \(key) \(number)")
        }
    }
}
#endif
