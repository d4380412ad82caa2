// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import UplinkCore

@testable import UplinkCommand

// The use cases' stand-ins: each does what its closure says, and by itself fails.

/// What a stand-in throws that was told nothing.
private let untold = FilesError(.unexpectedAnswer, "the stand-in was not told what to do")

struct StandInLogIn: LogIn {
    var body: @Sendable (FilesServerURL, String, String) async throws -> LoggedIn = { _, _, _ in throw untold }

    func callAsFunction(_ server: FilesServerURL, user: String, password: String) async throws -> LoggedIn {
        try await body(server, user, password)
    }
}

struct StandInReadUser: ReadUser {
    var body: @Sendable () async throws -> User = { throw untold }

    func callAsFunction() async throws -> User { try await body() }
}

struct StandInListFolder: ListFolder {
    var body: @Sendable (ItemID) async throws -> Listing = { _ in throw untold }

    func callAsFunction(_ folder: ItemID) async throws -> Listing { try await body(folder) }
}

struct StandInReadData: ReadData {
    var body: @Sendable (ItemID) async throws -> [UInt8] = { _ in throw untold }
    var save: @Sendable (ItemID, FilePath) async throws -> Void = { _, _ in throw untold }

    func callAsFunction(
        _ file: ItemID, of size: Int64?, progress: TransferProgress?,
        receive: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        let bytes = try await body(file)
        try await receive(bytes)
        progress?(Int64(bytes.count), Int64(bytes.count))
    }

    func callAsFunction(
        _ file: ItemID, of size: Int64?, to path: FilePath, replacingExisting: Bool, progress: TransferProgress?
    ) async throws { try await save(file, path) }
}

struct StandInMakeFolder: MakeFolder {
    var body: @Sendable (String, ItemID) async throws -> Item = { _, _ in throw untold }

    func callAsFunction(named name: String, in folder: ItemID) async throws -> Item { try await body(name, folder) }
}

struct StandInUploadFile: UploadFile {
    var body: @Sendable (UploadSource, String, ItemID) async throws -> Item = { _, _, _ in throw untold }

    func callAsFunction(
        _ source: UploadSource, named name: String, in folder: ItemID, progress: TransferProgress?
    ) async throws -> Item { try await body(source, name, folder) }
}

struct StandInDeleteItem: DeleteItem {
    var body: @Sendable (ItemID) async throws -> Void = { _ in throw untold }

    func callAsFunction(_ item: ItemID) async throws { try await body(item) }
}

struct StandInPendingChanges: ListPendingChanges, FollowPendingChanges {
    var body: @Sendable () async throws -> [PendingChange] = { throw untold }

    func callAsFunction() async throws -> [PendingChange] { try await body() }

    func callAsFunction() -> AsyncStream<[PendingChange]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [PendingChange].self)
        let telling = Task {
            if let changes = try? await body() { continuation.yield(changes) }
        }
        continuation.onTermination = { _ in telling.cancel() }
        return stream
    }
}

struct StandInRetryChange: RetryChange {
    var body: @Sendable (PendingChange.ID) async throws -> Void = { _ in throw untold }

    func callAsFunction(_ id: PendingChange.ID) async throws { try await body(id) }
}

struct StandInDiscardChange: DiscardChange {
    var body: @Sendable (PendingChange.ID) async throws -> Void = { _ in throw untold }

    func callAsFunction(_ id: PendingChange.ID) async throws { try await body(id) }
}

struct StandInSendPendingChanges: SendPendingChanges {
    var body: @Sendable (Duration) async throws -> SentChanges = { _ in throw untold }

    func callAsFunction(within limit: Duration) async throws -> SentChanges { try await body(limit) }
}

extension FilesUseCases {
    /// Stand-ins that know what is in some folders, the root being number 0.
    static func standIn(_ folders: [ItemID: [Item]]) -> Self {
        let root = anItem(0, "", folder: true, in: nil)
        return Self(
            user: StandInReadUser { User(firstName: "A", lastName: "B", root: root) },
            list: StandInListFolder { folder in
                guard let items = folders[folder] else { throw FilesError(status: 404, while: "list the folder") }
                return Listing(items: items, malformed: 0)
            }, read: StandInReadData(), makeFolder: StandInMakeFolder(), upload: StandInUploadFile(),
            delete: StandInDeleteItem())
    }
}
