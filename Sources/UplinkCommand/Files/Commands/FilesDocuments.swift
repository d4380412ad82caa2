// SPDX-License-Identifier: Apache-2.0

// What the commands print as JSON: every key is present, and unknown values are null.

/// Who is logged in, as JSON.
struct UserDocument: Encodable {
    let user: User

    private enum CodingKeys: String, CodingKey {
        case firstName, lastName
        case root = "rootItem"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(user.firstName, forKey: .firstName)
        try values.encode(user.lastName, forKey: .lastName)
        try user.root.encode(to: values.superEncoder(forKey: .root), withNulls: true)
    }
}

/// A change as JSON.
struct PendingDocument: Encodable {
    let change: PendingChange

    init(_ change: PendingChange) { self.change = change }

    private enum CodingKeys: String, CodingKey { case id, kind, state, reason, path, date, item }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(change.id, forKey: .id)
        try values.encode(change.kind.rawValue, forKey: .kind)
        try values.encode(change.stateWord, forKey: .state)
        try values.encode(change.reason, forKey: .reason)
        try values.encode(change.path.description, forKey: .path)
        try values.encode(change.date.description, forKey: .date)
        try change.item.encode(to: values.superEncoder(forKey: .item), withNulls: true)
    }
}

/// An item as JSON, with a key `pending`: the change that is pending for it, or null.
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
        try item.encode(to: encoder, withNulls: true)
        var values = encoder.container(keyedBy: CodingKeys.self)
        let pending = change.map { Pending(id: $0.id, kind: $0.kind.rawValue, state: $0.stateWord) }
        try values.encode(pending, forKey: .pending)
    }
}
