// SPDX-License-Identifier: Apache-2.0

/// A file or a folder on a server.
struct Item: Sendable, Hashable {
    let id: ItemID
    /// The folder it is in; nil for the root.
    let parentID: ItemID?
    let name: String
    let isFolder: Bool
    let modificationDate: Timestamp
    /// Bytes; nil for a folder, and where the server does not say.
    let size: Int64?
    /// Nil for a folder, and where the server does not say.
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
    /// What could be read, and what is to be sent, as ``ItemOrder`` has it.
    let items: [Item]
    /// How many items the server sent that are none.
    let malformed: Int
    /// Where the items come from, but those that are still to be sent.
    var source = AnswerSource.server
    /// What is still to be sent in this folder. What is to be deleted is among the items until it is.
    var changes: [PendingChange] = []

    init(items: [Item], malformed: Int, source: AnswerSource = .server, changes: [PendingChange] = []) {
        self.items = items
        self.malformed = malformed
        self.source = source
        self.changes = changes
    }

    /// What is to become of an item; nil where nothing is.
    func change(of item: Item) -> PendingChange? { changes.first { $0.item.id == item.id } }
}
