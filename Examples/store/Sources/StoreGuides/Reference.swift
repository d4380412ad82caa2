// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Uplink
import UplinkStore
import UplinkStoreTesting

// The examples in the comments of the store's public symbols.

private func send(_ entry: OutboxEntry) async throws -> OutboxVerdict { .done { _ in } }
private func show(_ notes: [Note]) { print(notes.map(\.text)) }

func storeInTheReference(_ migrator: DatabaseMigrator, _ syncOfNotes: StoreSync) async throws {
    let notes = StoreQuery("notes") { db in try Note.order(Column("text")).fetchAll(db) }

    let store = try await Store.open("notes.db", migrator: migrator)
    for await element in store.stream(notes, sync: syncOfNotes) { print(element) }
}

func valuesInTheReference(_ stream: StoreStream<[Note]>) async {
    for await notes in stream.handlingErrors({ print("not refreshed: \($0)") }) { show(notes) }
}

func outboxInTheReference(_ store: Store, _ note: Note, _ data: Data) async throws {
    let outbox = try Outbox(store)
    try await outbox.enqueue(key: note.id, kind: "rename", payload: data)
    try await outbox.run { entry in try await send(entry) }  // in a task of its own
}

func verdictInTheReference(_ outbox: Outbox) async throws {
    try await outbox.run { entry in
        return .failed(reason: "refused") { db in try outbox.cancelFollowing(entry, in: db) }
    }
}

func stubsInTheReference(_ outbox: Outbox) async throws {
    let save: @Sendable (Database, [String]) throws -> Void = { _, _ in }

    let fetch = StubFetch(["milk"])
    let sync = StoreSync("list", fetch: { try await fetch() }, write: save)

    let handler = StubOutboxHandler()
    let run = Task { try await outbox.run { try await handler($0) } }
    run.cancel()
    print(sync)
}
