// SPDX-License-Identifier: Apache-2.0

/// A file or a folder on a server.
struct Item: Sendable, Hashable {
    let id: ItemID
    /// The folder it is in; nil for the root.
    let parentID: ItemID?
    let name: String
    let isFolder: Bool
    /// When its content was last changed; for a folder, when something was last added or removed, if the server says
    /// so.
    var modificationDate: Timestamp
    /// The size in bytes; nil for a folder, and if the server does not say.
    let size: Int64?
    /// The content type; nil for a folder, and if the server does not say.
    let contentType: String?

    /// How the content can be shown.
    var kind: ContentKind { ContentKind(contentType) }
}

/// Who is logged in.
struct User: Sendable, Hashable, Codable {
    let firstName: String
    let lastName: String
    /// The folder that all others are in.
    let root: Item

    private enum CodingKeys: String, CodingKey {
        case firstName, lastName
        case root = "rootItem"
    }
}

/// What is in a folder.
struct Listing: Sendable, Hashable {
    /// The items that could be read, and those still to be sent, in the order of ``ItemOrder``.
    let items: [Item]
    /// How many invalid items the server sent.
    let malformed: Int
    /// Where the items come from, except those still to be sent.
    var source = AnswerSource.server
    /// The changes still to be sent in this folder. An item that is to be deleted is among the items until it is.
    var changes: [PendingChange] = []

    init(items: [Item], malformed: Int, source: AnswerSource = .server, changes: [PendingChange] = []) {
        self.items = items
        self.malformed = malformed
        self.source = source
        self.changes = changes
    }

    /// The pending change of an item; nil if there is none.
    func change(of item: Item) -> PendingChange? { changes.first { $0.item.id == item.id } }
}
