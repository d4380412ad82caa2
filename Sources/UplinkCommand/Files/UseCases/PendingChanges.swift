// SPDX-License-Identifier: Apache-2.0

/// Lists the changes still to be sent.
protocol ListPendingChanges: Sendable {
    /// The oldest first.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction() async throws -> [PendingChange]
}

/// Follows the changes still to be sent.
protocol FollowPendingChanges: Sendable {
    /// The changes now, and whenever they or their states change, until the task is cancelled.
    func callAsFunction() -> AsyncStream<[PendingChange]>
}

/// Makes a change that is in conflict or rests be sent again.
protocol RetryChange: Sendable {
    /// For a new folder, this includes everything that is to go into it. Nothing is sent until ``SendPendingChanges``
    /// is called.
    ///
    /// - Throws: ``FilesError``, also when there is no such change; or `CancellationError`.
    func callAsFunction(_ id: PendingChange.ID) async throws
}

/// Gives a change up.
protocol DiscardChange: Sendable {
    /// A new folder that other changes go into, and a change that is being sent, cannot be discarded.
    ///
    /// - Throws: ``FilesError``, also when there is no such change; or `CancellationError`.
    func callAsFunction(_ id: PendingChange.ID) async throws
}

/// Sends pending changes.
protocol SendPendingChanges: Sendable {
    /// Returns when nothing waits any more, or when the server has not been reached in this time; a change that is
    /// being sent is not interrupted. Conflicts are not sent again.
    ///
    /// - Parameter limit: How long to go on trying if the server cannot be reached; zero tries once.
    /// - Throws: ``FilesError``, also when another process sends; or `CancellationError`.
    func callAsFunction(within limit: Duration) async throws -> SentChanges
}

/// The result of sending changes.
struct SentChanges: Sendable, Hashable {
    /// The changes that the server has now.
    var sent: [PendingChange] = []
    /// The changes that are left: those that wait, and those in conflict.
    var left: [PendingChange] = []
    /// Why no more was sent, if that is due to this host and not the server.
    var problem: String?
}

/// What can be done with changes that were made offline.
struct PendingUseCases: Sendable {
    var list: any ListPendingChanges
    var follow: any FollowPendingChanges
    var retry: any RetryChange
    var discard: any DiscardChange
    var send: any SendPendingChanges

    /// The use cases of a program without a store: there are no changes.
    static var none: Self {
        let none = NoPendingChanges()
        return Self(list: none, follow: none, retry: none, discard: none, send: none)
    }
}

/// What is reported while working offline.
enum OfflineNews: Sendable, Hashable {
    /// An answer came from the store.
    case stored(StoredAnswer)
    /// A change was kept, to be sent later.
    case waits(PendingChange)
    /// The server has a change that waited.
    case sent(PendingChange)
    /// The server refused a change that waited.
    case conflict(PendingChange)
}

/// The use cases without a store, where nothing ever waits.
private struct NoPendingChanges: ListPendingChanges, FollowPendingChanges, RetryChange, DiscardChange,
    SendPendingChanges
{
    func callAsFunction() async throws -> [PendingChange] { [] }

    func callAsFunction() -> AsyncStream<[PendingChange]> {
        AsyncStream { continuation in
            continuation.yield([])
            continuation.finish()
        }
    }

    func callAsFunction(_ id: PendingChange.ID) async throws { throw FilesError.noChange(id) }

    func callAsFunction(within limit: Duration) async throws -> SentChanges { SentChanges() }
}

extension FilesUseCases {
    /// The pending change of an item: one, or none.
    func changes(of item: Item) async throws -> [PendingChange] {
        try await pending.list().filter { $0.item.id == item.id }
    }
}

extension FilesError {
    /// There is no change with this number.
    static func noChange(_ id: PendingChange.ID) -> Self {
        Self(.notFound, "there is no change \(id); `uplink files pending` lists those that there are")
    }
}
