// SPDX-License-Identifier: Apache-2.0

/// Tells which changes are still to be sent.
protocol ListPendingChanges: Sendable {
    /// The oldest first.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction() async throws -> [PendingChange]
}

/// Follows the changes that are still to be sent.
protocol FollowPendingChanges: Sendable {
    /// Those that there are, now and after each change of them or of their states, until the task is cancelled.
    func callAsFunction() -> AsyncStream<[PendingChange]>
}

/// Has a change be sent again that is in conflict or rests.
protocol RetryChange: Sendable {
    /// For a new folder also what is to go into it. Nothing is sent before ``SendPendingChanges`` is asked to.
    ///
    /// - Throws: ``FilesError``, also when there is no such change; or `CancellationError`.
    func callAsFunction(_ id: PendingChange.ID) async throws
}

/// Gives a change up.
protocol DiscardChange: Sendable {
    /// A new folder that others are to go into, and what is being sent, cannot be discarded.
    ///
    /// - Throws: ``FilesError``, also when there is no such change; or `CancellationError`.
    func callAsFunction(_ id: PendingChange.ID) async throws
}

/// Sends what waits.
protocol SendPendingChanges: Sendable {
    /// Returns when nothing waits any more, or when the server has not been reached in this time; what has begun to be sent
    /// is not interrupted. Conflicts are not sent again.
    ///
    /// - Parameter limit: How long to go on trying where the server cannot be reached; zero tries once.
    /// - Throws: ``FilesError``, also when another process sends; or `CancellationError`.
    func callAsFunction(within limit: Duration) async throws -> SentChanges
}

/// What became of the changes.
struct SentChanges: Sendable, Hashable {
    /// What the server has now.
    var sent: [PendingChange] = []
    /// What is left: what waits, and what is in conflict.
    var left: [PendingChange] = []
    /// Why no more was sent, where that is this host's fault and not the server's.
    var problem: String?
}

/// What can be done with changes that were made offline.
struct PendingUseCases: Sendable {
    var list: any ListPendingChanges
    var follow: any FollowPendingChanges
    var retry: any RetryChange
    var discard: any DiscardChange
    var send: any SendPendingChanges

    /// Those of a program that keeps nothing: there are no changes.
    static var none: Self {
        let none = NoPendingChanges()
        return Self(list: none, follow: none, retry: none, discard: none, send: none)
    }
}

/// What is told while one works offline.
enum OfflineNews: Sendable, Hashable {
    /// An answer came from the store.
    case stored(StoredAnswer)
    /// A change was kept, to be sent later.
    case waits(PendingChange)
    /// The server has a change that waited.
    case sent(PendingChange)
    /// The server will not have a change that waited.
    case conflict(PendingChange)
}

/// Where nothing is kept, nothing waits.
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
    /// What is to become of an item: one change, or none.
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
