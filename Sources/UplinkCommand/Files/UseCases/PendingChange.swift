// SPDX-License-Identifier: Apache-2.0

/// A change made without the server, to be sent when the server can be reached.
struct PendingChange: Sendable, Hashable, Identifiable {
    /// What is to be done.
    enum Kind: String, Sendable, Hashable, Codable {
        /// A file is put into a folder.
        case upload
        /// A folder is created in another one.
        case newFolder
        /// A file, or a folder with everything in it, is deleted.
        case deletion
    }

    /// The state of a change.
    enum State: Sendable, Hashable {
        /// It is sent when the server can be reached; with the reason why the last attempt failed, if there was one.
        case waiting(problem: String?)
        /// It is being sent at this moment.
        case sending
        /// The server refuses it. It stays, with the reason, until it is retried or discarded.
        case conflict(reason: String)
    }

    /// The change's number, which is never reused.
    let id: Int64
    let kind: Kind
    /// The item it is about: the new file or folder, with an id of our own until the server has one for it, or the one
    /// to delete.
    let item: Item
    /// The item's path, for people, as far as it is known.
    let path: RemotePath
    let state: State
    /// When the change was made.
    let date: Timestamp

    /// Whether it is kept until the user decides.
    var isConflict: Bool { if case .conflict = state { true } else { false } }
    /// Whether the item is not on the server yet.
    var makesItem: Bool { kind != .deletion }
}

/// Where an answer comes from.
enum AnswerSource: Sendable, Hashable {
    /// The server, which has just given it.
    case server
    /// The store of this host; the server was not reached.
    case store(StoredAnswer)
}

/// The description of an answer that does not come from the server.
struct StoredAnswer: Sendable, Hashable {
    /// How long ago the server gave it; nil when the clock has been set back since.
    let age: Duration?
    /// Why the server was not asked or did not answer.
    let reason: String
}
