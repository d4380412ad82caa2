// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Uplink
import UplinkStore

struct Note: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "note"
    var id: String
    var text: String
    var isSent = true

    enum CodingKeys: String, CodingKey { case id, text, isSent }

    init(id: String, text: String, isSent: Bool = true) { (self.id, self.text, self.isSent) = (id, text, isSent) }

    init(from decoder: any Decoder) throws {  // the server knows nothing of `isSent`
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        text = try fields.decode(String.self, forKey: .text)
        isSent = try fields.decodeIfPresent(Bool.self, forKey: .isSent) ?? true
    }
}

/// Notes that are readable and writable offline: `notes URL` shows them, `notes URL TEXT` adds one first.
@main
struct Notes {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { table in
                table.primaryKey("id", .text)
                table.column("text", .text).notNull()
                table.column("isSent", .boolean).notNull()
            }
        }
        return migrator
    }

    static func main() async throws {
        guard CommandLine.arguments.count > 1 else { return print("usage: notes URL [TEXT]") }
        let url = CommandLine.arguments[1]
        let store = try await Store.open("notes.db", migrator: migrator)
        let outbox = try Outbox(store)
        if CommandLine.arguments.count > 2 { try await add(CommandLine.arguments[2], to: store, outbox) }

        try await withHTTPClient { client in
            await withTaskGroup { group in
                group.addTask {
                    do {
                        try await outbox.run { entry in try await send(entry, store, client, url) }
                    } catch {  // another process may be sending
                        if !Task.isCancelled { print("nothing is sent from here:", error) }
                    }
                }
                await show(store, client, url)
                group.addTask {
                    for await state in outbox.states where state.pending == 0 || state.isWaiting || state.resting > 0 {
                        if state.pending > 0 { print("\(state.pending) to be sent another time") }
                        break
                    }
                }
                await group.next()  // whichever ends first
                group.cancelAll()
            }
        }
    }

    /// The note and what is to be sent of it are written in one transaction: there is never one without the other.
    static func add(_ text: String, to store: Store, _ outbox: Outbox) async throws {
        try await store.database.write { db in
            let note = Note(id: UUID().uuidString, text: text, isSent: false)
            try note.insert(db)
            try outbox.enqueue(key: note.id, kind: "add", payload: JSONEncoder().encode(note), in: db)
        }
    }

    /// What became of it, the outbox writes in the transaction that removes the entry. A sync that is under way may
    /// have asked the server before: what it brings is outdated.
    static func send(
        _ entry: OutboxEntry, _ store: Store, _ client: HTTPClient, _ url: String
    ) async throws -> OutboxVerdict {
        let response = try await client.post(
            url, body: .json(Array(entry.payload)),
            headers: [HTTPField.Name("Idempotency-Key")!: entry.idempotencyKey])
        switch response.status.code {
        case 200..<300:
            print("sent:", try JSONDecoder().decode(Note.self, from: entry.payload).text)
            return .done { db in
                try db.execute(sql: "UPDATE note SET isSent = TRUE WHERE id = ?", arguments: [entry.key])
                try store.outdate("notes", in: db)
            }
        case 401, 408, 425, 429, 500...:  // it may go better later, and its key's next ones wait for it
            let pause = response.headerFields[.retryAfter].flatMap(Int.init).map { Duration.seconds($0) }
            return .tryAgain(reason: "\(response.status)", after: pause)
        default: return .failed(reason: "\(response.status)")
        }
    }

    /// Shows what is stored, then what a sync brings, until the sync has ended.
    static func show(_ store: Store, _ client: HTTPClient, _ url: String) async {
        let notes = StoreQuery("notes") { db in try Note.order(Column("text")).fetchAll(db) }
        let sync = StoreSync.json("notes", client: client, url: url, as: [Note].self, networkLimit: .seconds(2)) {
            db, notes in
            try Note.filter(Column("isSent")).deleteAll(db)  // those that are still to be sent stay
            for note in notes { try note.save(db) }
        }
        for await element in store.stream(notes, sync: sync) {
            switch element {
            case .waiting: print("waiting for the network")
            case .loading: print("loading")
            case .value(let notes, let origin):
                let words = notes.map { $0.isSent ? $0.text : "\($0.text) (not sent yet)" }
                print(origin.isRefreshing ? "stored:" : "fresh:", words.joined(separator: ", "))
                if !origin.isRefreshing { return }
            case .noNews: return print("nothing new")
            case .error(let error): return print("not refreshed:", error)
            }
        }
    }
}
