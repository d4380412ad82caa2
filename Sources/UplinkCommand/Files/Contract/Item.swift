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
    /// What could be read, as ``ItemOrder`` has it.
    let items: [Item]
    /// How many items the server sent that are none.
    let malformed: Int
}
