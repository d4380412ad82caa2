// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import Uplink
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// What the screens can do once a user is logged in.
struct FileActions: Sendable {
    var list: @Sendable (_ folder: Item) async throws -> Listing
    /// Sends pending changes as far as possible.
    var send: @Sendable () async throws -> Void
    /// Reads a file to show it.
    var read: @Sendable (Item, @escaping TransferProgress) async throws -> (FileContent, StoredAnswer?)
    /// Writes a file of this host, and returns its path.
    var save: @Sendable (Item, _ path: String, @escaping TransferProgress) async throws -> String
    var makeFolder: @Sendable (_ name: String, _ folder: Item) async throws -> Item
    var upload: @Sendable (_ path: String, _ folder: Item, @escaping TransferProgress) async throws -> Item
    var delete: @Sendable (Item) async throws -> Void
    var retry: @Sendable (PendingChange.ID) async throws -> Void
    var discard: @Sendable (PendingChange.ID) async throws -> Void
    /// Whether the network is there: as soon as it is known, and at every change. Ends when cancelled.
    var networkChanges: @Sendable () -> AsyncStream<Bool>
    /// The changes still to be sent: now, and at every change. Ends when cancelled.
    var pendingChanges: @Sendable () -> AsyncStream<[PendingChange]>

    /// Carries out a job.
    func run(_ job: FilesJob, progress: @escaping TransferProgress) async throws -> FilesResult {
        switch job {
        case .list(let path):
            guard let folder = path.last else { return .done }
            return .listing(try await list(folder))
        case .read(let item):
            let (content, stored) = try await read(item, progress)
            return .content(content, stored)
        case .save(let item, let path): return .saved(try await save(item, path, progress))
        case .makeFolder(let name, let folder): return .created(try await makeFolder(name, folder))
        case .upload(let path, let folder): return .created(try await upload(path, folder, progress))
        case .delete(let item): try await delete(item)
        case .retry(let change): try await retry(change.id)
        case .discard(let change): try await discard(change.id)
        case .logIn, .logOut: break  // the model's own
        }
        return .done
    }
}

extension FileActions {
    /// The real actions, based on the use cases.
    ///
    /// - Parameter lastStored: Takes the last description of an answer from the store.
    init(
        _ files: FilesUseCases, networkChanges: @escaping @Sendable () -> AsyncStream<Bool>,
        lastStored: @escaping @Sendable () -> StoredAnswer?
    ) {
        list = { folder in try await files.list(folder.id) }
        send = {
            let problem = try await files.pending.send(within: .zero).problem
            if let problem { throw FilesError(.localFile, problem) }
        }
        read = { item, progress in
            _ = lastStored()
            let limit = FileContent.limit(for: item)
            let bytes = Locked<[UInt8]>([])
            do {
                try await files.read(item.id, of: item.size, progress: progress) { piece in
                    try bytes.withLock { bytes in
                        guard bytes.count + piece.count <= limit else { throw TooLarge() }
                        bytes += piece
                    }
                }
            } catch is TooLarge {
                return (.tooLarge(item), lastStored())
            }
            return (FileContent(bytes.withLock { $0 }, of: item), lastStored())
        }
        save = { item, text, progress in
            let path = try await EventLoop.shared.offLoop { try LocalPath(text).target(for: item.name) }
            try await files.read(item.id, of: item.size, to: path, replacingExisting: false, progress: progress)
            return path.string
        }
        makeFolder = { name, folder in
            try await files.naming(name, in: folder.id) { try await files.makeFolder(named: name, in: folder.id) }
        }
        upload = { text, folder, progress in
            let (path, name) = try await EventLoop.shared.offLoop { try LocalPath(text).source() }
            return try await files.naming(name, in: folder.id) {
                try await files.upload(.file(path), named: name, in: folder.id, progress: progress)
            }
        }
        delete = { item in try await files.delete(item.id) }
        retry = { id in try await files.pending.retry(id) }
        discard = { id in try await files.pending.discard(id) }
        self.networkChanges = networkChanges
        pendingChanges = { files.pending.follow() }
    }

    private struct TooLarge: Error {}
}

extension FilesModel.Actions {
    /// The real actions: over HTTP, with this host's store if there is one.
    ///
    /// - Parameter isOnline: Whether to leave the store alone.
    init(over transport: any HTTPTransport, monitor: any NetworkMonitor, isOnline: Bool) {
        logIn = { fields in
            let server = try FilesServerURL(fields.server)
            let stored = Locked<StoredAnswer?>(nil)
            let problem = Locked<String?>(nil)
            let logIn = RemoteLogIn { server, credentials in
                guard !isOnline else { return try .remote(server, as: credentials, over: transport) }
                return try await .offlineIfPossible(server, as: credentials, over: transport) { news in
                    if case .stored(let answer) = news { stored.withLock { $0 = answer } }
                } warning: { warning in
                    problem.withLock { $0 = warning }
                }
            }
            let loggedIn = try await logIn(server, user: fields.user, password: fields.password)
            // The store accepts any password; only one that the server has accepted is stored.
            let isUnchecked = stored.withLock { $0 != nil }
            var note = problem.withLock { $0 }
            if isUnchecked { note = "The server was not reached, and the password is not checked." }
            if fields.keeps, !isUnchecked {
                let entry = CredentialFile.Entry(server: server.text, user: fields.user, password: fields.password)
                do { try CredentialFile.standard().write(entry) } catch { note = "The password is not kept: \(error)" }
            }
            let actions = FileActions(loggedIn.files) {
                Self.networkChanges(of: monitor, for: server)
            } lastStored: {
                stored.withLock { stored in
                    defer { stored = nil }
                    return stored
                }
            }
            return FilesModel.Session(user: loggedIn.user, files: actions, note: note)
        }
        logOut = { fields in
            let file = try CredentialFile.standard()
            guard let kept = try file.read(), let server = try? FilesServerURL(fields.server) else { return }
            if kept.server == server.text, kept.user == fields.user { try file.remove() }
        }
    }

    /// Whether the network to a server is there, according to the monitor; ends if the monitor fails.
    private static func networkChanges(of monitor: any NetworkMonitor, for server: FilesServerURL) -> AsyncStream<Bool>
    {
        guard let requirement = (try? URLArgument.parse(server.text))?.requirement else {
            return AsyncStream { $0.finish() }  // this host itself is always there
        }
        return monitor.changes(of: requirement)
    }
}
