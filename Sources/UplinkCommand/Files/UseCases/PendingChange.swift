// SPDX-License-Identifier: Apache-2.0

/// A change that was made without the server, and is to be sent when it can be reached.
struct PendingChange: Sendable, Hashable, Identifiable {
    /// What is to be done.
    enum Kind: String, Sendable, Hashable, Codable {
        /// A file is put into a folder.
        case upload
        /// A folder is made in another one.
        case newFolder
        /// A file, or a folder with all that is in it, is deleted.
        case deletion
    }

    /// How far it is.
    enum State: Sendable, Hashable {
        /// It goes when the server can be reached. Why the last attempt failed, where there was one.
        case waiting(problem: String?)
        /// It is on its way at this moment.
        case sending
        /// The server will not have it. It stays, with the reason, until it is tried again or discarded.
        case conflict(reason: String)
    }

    /// Never used again for another one.
    let id: Int64
    let kind: Kind
    /// What it is about: the new file or folder under an id of our own until the server has one for it, or what is deleted.
    let item: Item
    /// Where that is, for people, as far as it is known.
    let path: RemotePath
    let state: State
    /// When it was made.
    let date: Timestamp

    /// Whether it is kept until somebody decides.
    var isConflict: Bool { if case .conflict = state { true } else { false } }
    /// Whether the item is not on the server yet.
    var makesItem: Bool { kind != .deletion }
}

/// Where an answer comes from.
enum AnswerSource: Sendable, Hashable {
    /// The server has just given it.
    case server
    /// The store of this host; the server was not reached.
    case store(StoredAnswer)
}

/// What is told of an answer that does not come from the server.
struct StoredAnswer: Sendable, Hashable {
    /// How long ago the server gave it; nil when the clock has been set back since.
    let age: Duration?
    /// Why the server was not asked or did not answer.
    let reason: String
}
