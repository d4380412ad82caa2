// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Uplink
import UplinkStore
import UplinkStoreTesting
import UplinkTesting

// The code of the guide "Offline first", and of docs/store.md and the README as far as it is not a program of its own.

struct Note: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "note"
    var id: String
    var text: String
}

struct Notes: Sendable {
    let store: Store
    let client: HTTPClient
    let url: String

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { table in
                table.primaryKey("id", .text)
                table.column("text", .text).notNull()
            }
        }
        return migrator
    }

    let query = StoreQuery("notes") { db in try Note.order(Column("text")).fetchAll(db) }

    var sync: StoreSync {
        .json("notes", client: client, url: url, as: [Note].self, networkLimit: .seconds(5)) { db, notes in
            try Note.deleteAll(db)
            for note in notes { try note.insert(db) }
        }
    }

    func follow() async {
        for await element in store.stream(query, sync: sync) {
            switch element {
            case .value(let notes, let origin): show(notes, isOld: origin.isRefreshing)
            case .loading: print("loading")
            case .waiting: print("waiting for the network")
            case .noNews: print("nothing new")
            case .error(let error): print("not refreshed:", error)
            }
        }
    }

    func followValues() async {
        let values = store.stream(query, sync: sync).handlingErrors { print("not refreshed:", $0) }
        for await notes in values { show(notes) }
    }

    func ifOlderThanAnHour() async {
        let recent = store.stream(query, sync: sync, request: .storedUnlessOlder(than: .seconds(3600)))
        for await notes in recent.values { show(notes) }
    }

    func add(_ note: Note, to outbox: Outbox) async throws {
        try await store.database.write { db in
            try note.insert(db)
            try outbox.enqueue(key: note.id, payload: JSONEncoder().encode(note), in: db)
        }
    }

    func send(_ outbox: Outbox) async throws {
        try await outbox.run { entry in
            let key = HTTPField.Name("Idempotency-Key")!
            let response = try await client.post(
                url, body: .json(Array(entry.payload)), headers: [key: entry.idempotencyKey])
            switch response.status.code {
            case 200..<300: return .done { db in try store.outdate(sync.key, in: db) }
            case 401, 408, 425, 429, 500...:  // it may go better later, and its key's next ones wait for it
                let pause = response.headerFields[.retryAfter].flatMap(Int.init).map { Duration.seconds($0) }
                return .tryAgain(reason: "\(response.status)", after: pause)
            default: return .failed(reason: "\(response.status)")
            }
        }
    }

    func show(_ notes: [Note], isOld: Bool = false) { print(isOld ? "stored:" : "fresh:", notes.map(\.text)) }
}

func tested() async throws {
    let query = StoreQuery("notes") { db in try Note.fetchAll(db) }
    let save: @Sendable (Database, [Note]) throws -> Void = { db, notes in for note in notes { try note.insert(db) } }

    let store = try Store.stubbed(migrator: Notes.migrator)
    let fetch = StubFetch([Note(id: "1", text: "milk")])
    fetch.hold()
    let sync = StoreSync("notes", fetch: { try await fetch() }, write: save)
    let recorder = StoreRecorder(store.stream(query, sync: sync))
    try await eventually { recorder.words == ["value([])", "loading"] }
    fetch.release()
    try await eventually { recorder.values.last?.first?.text == "milk" }
}
