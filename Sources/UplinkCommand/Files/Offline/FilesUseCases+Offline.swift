// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop
import UplinkHTTP

extension FilesUseCases {
    /// Whether this build has an offline store.
    static var keepsFiles: Bool {
        #if Store
        true
        #else
        false
        #endif
    }

    /// The use cases of ``remote(_:as:over:)`` with this host's store around them: what was read stays readable, and
    /// changes made without the server wait. Without the trait `Store` there is no store, and they work only online.
    ///
    /// - Parameter tell: Called, on any thread, with what came from the store, what waits, and what became of that.
    /// - Throws: ``FilesError`` when the credentials cannot be sent, or the store cannot be opened.
    static func offline(
        _ server: FilesServerURL, as credentials: Credentials, over transport: any HTTPTransport,
        telling tell: @escaping @Sendable (OfflineNews) -> Void
    ) async throws -> Self {
        let remote = try remote(server, as: credentials, over: transport)
        #if Store
        let directory = try OfflineDirectory.standard(for: server, user: credentials.user)
        let files = try await OfflineStore.open(directory, reach: ServerReach(to: server), telling: tell)
        return remote.stored(in: files)
        #else
        return remote
        #endif
    }

    /// The use cases of ``offline(_:as:over:telling:)``, or only those of the server if the store cannot be used.
    ///
    /// - Parameter warn: Called with the reason why nothing is stored.
    /// - Throws: ``FilesError`` when the credentials cannot be sent.
    static func offlineIfPossible(
        _ server: FilesServerURL, as credentials: Credentials, over transport: any HTTPTransport,
        telling tell: @escaping @Sendable (OfflineNews) -> Void, warning warn: (String) -> Void
    ) async throws -> Self {
        do {
            return try await offline(server, as: credentials, over: transport, telling: tell)
        } catch let error as FilesError where error.code == .localFile {
            warn("Nothing is kept: \(error)")
            return try remote(server, as: credentials, over: transport)
        }
    }
}

extension PendingUseCases {
    /// The use cases for changes pending on this host, without the server and a password; nothing can be sent.
    ///
    /// - Throws: ``FilesError`` when the store cannot be opened.
    static func onThisHost(_ server: FilesServerURL, user: String) async throws -> Self {
        #if Store
        let directory = try OfflineDirectory.standard(for: server, user: user)
        return stored(in: try await OfflineStore.open(directory, reach: ServerReach(to: server), telling: { _ in }))
        #else
        return none
        #endif
    }
}

#if Store
extension PendingUseCases {
    /// The use cases of a store. Nothing can be sent without `sending`.
    fileprivate static func stored(in files: OfflineStore, sending: (any SendPendingChanges)? = nil) -> Self {
        Self(
            list: StoredListPendingChanges(files: files), follow: StoredFollowPendingChanges(files: files),
            retry: StoredRetryChange(files: files), discard: StoredDiscardChange(files: files),
            send: sending ?? none.send)
    }
}

extension FilesUseCases {
    /// These use cases with a store around them.
    func stored(in files: OfflineStore, clock: any Clock<Duration> = LoopClock.shared) -> Self {
        Self(
            user: StoredReadUser(remote: user, files: files), list: StoredListFolder(remote: list, files: files),
            read: StoredReadData(remote: read, files: files),
            makeFolder: StoredMakeFolder(remote: makeFolder, files: files),
            upload: StoredUploadFile(remote: upload, files: files),
            delete: StoredDeleteItem(remote: delete, files: files),
            pending: .stored(
                in: files, sending: StoredSendPendingChanges(remote: self, files: files, clock: clock)))
    }
}
#endif
