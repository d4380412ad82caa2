// SPDX-License-Identifier: Apache-2.0

/// A change as JSON.
struct PendingDocument: Encodable {
    let id: PendingChange.ID
    let kind: String
    let state: String
    let reason: String?
    let path: String
    let date: String
    let item: Item

    init(_ change: PendingChange) {
        (id, kind, state, reason) = (change.id, change.kind.rawValue, change.stateWord, change.reason)
        (path, date, item) = (change.path.description, change.date.description, change.item)
    }
}

/// An item as JSON, with a key `pending` where something is to become of it.
struct ListedItem: Encodable {
    let item: Item
    let change: PendingChange?

    private enum CodingKeys: String, CodingKey { case pending }
    private struct Pending: Encodable {
        let id: PendingChange.ID
        let kind: String
        let state: String
    }

    func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        guard let change else { return }
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(
            Pending(id: change.id, kind: change.kind.rawValue, state: change.stateWord), forKey: .pending)
    }
}
