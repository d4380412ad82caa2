// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import SystemPackage
import UplinkCore
import UplinkEventLoop

/// Reads the user from the server, or as the server last described it.
struct StoredReadUser: ReadUser {
    let remote: any ReadUser
    let files: OfflineStore

    func callAsFunction() async throws -> User { try await files.user(from: remote) }
}

/// Lists a folder from the server, or as the server last listed it, with what is to be sent there.
struct StoredListFolder: ListFolder {
    let remote: any ListFolder
    let files: OfflineStore

    func callAsFunction(_ folder: ItemID) async throws -> Listing {
        try await files.listing(of: folder, from: remote)
    }
}

/// Reads a file's content from the server, and stores a copy, or reads that copy; for a pending upload, reads what will
/// be uploaded.
struct StoredReadData: ReadData {
    let remote: any ReadData
    let files: OfflineStore

    func callAsFunction(
        _ file: ItemID, of size: Int64?, progress: TransferProgress?,
        receive: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        if let new = try await files.newItem(file) { return try await send(try upload(new), progress, receive) }
        let file = try await files.resolved(file)
        let copy = ContentCopy(of: file, files)
        do {
            try await files.reach.ask {
                try await remote(file, of: size, progress: progress) { bytes in
                    await copy.add(bytes)
                    try await receive(bytes)
                }
            }
            await copy.keep()
        } catch let error as ServerNotReached {
            guard copy.isEmpty else {
                throw FilesError(.unreachable, "\(error.reason); some of it has come, and no more")
            }
            let kept = try await files.content(of: file, because: error.reason)
            try await send(kept.path, progress, receive)
            files.tell(.stored(StoredAnswer(age: kept.age, reason: error.reason)))
        }
    }

    func callAsFunction(
        _ file: ItemID, of size: Int64?, to path: FilePath, replacingExisting: Bool, progress: TransferProgress?
    ) async throws {
        if let new = try await files.newItem(file) {
            return try await copy(try upload(new), to: path, replacingExisting: replacingExisting, progress)
        }
        let file = try await files.resolved(file)
        do {
            try await files.reach.ask {
                try await remote(file, of: size, to: path, replacingExisting: replacingExisting, progress: progress)
            }
            await ContentCopy(of: file, files).keep(copyOf: path)
        } catch let error as ServerNotReached {
            let kept = try await files.content(of: file, because: error.reason)
            try await copy(kept.path, to: path, replacingExisting: replacingExisting, progress)
            files.tell(.stored(StoredAnswer(age: kept.age, reason: error.reason)))
        }
    }

    private func upload(_ change: ChangeRow) throws -> FilePath {
        guard let file = change.file else {
            throw FilesError(.refused, "`\(change.name)` is a folder, which has no data")
        }
        return files.uploads.path(of: file)
    }

    private func send(
        _ path: FilePath, _ progress: TransferProgress?, _ receive: ([UInt8]) async throws -> Void
    ) async throws {
        let source = try LocalFile(path)
        var done: Int64 = 0
        while true {
            let bytes = try await source.next()
            guard !bytes.isEmpty else { break }
            try await receive(bytes)
            done += Int64(bytes.count)
            progress?(done, source.size)
        }
    }

    /// Copies a file, which gets its name only when it is whole.
    private func copy(
        _ source: FilePath, to target: FilePath, replacingExisting: Bool, _ progress: TransferProgress?
    ) async throws {
        let file = try await EventLoop.shared.offLoop { try SavedFile(target, replacingExisting: replacingExisting) }
        try await send(source, progress) { try await file.write($0) }
        try await EventLoop.shared.offLoop { try file.finish() }
    }
}

/// A copy of a content, made while it is read. If copying fails there is no copy, but reading goes on.
private final class ContentCopy: Sendable {
    private let file: ItemID
    private let files: OfflineStore
    private let state = Locked<(draft: Draft?, size: Int64, hasFailed: Bool)>((nil, 0, false))

    init(of file: ItemID, _ files: OfflineStore) { (self.file, self.files) = (file, files) }

    /// Whether nothing has come yet.
    var isEmpty: Bool { state.withLock { $0.size == 0 } }

    func add(_ bytes: [UInt8]) async {
        let isTooLarge = state.withLock { state in
            state.size += Int64(bytes.count)
            return state.size > files.limits.content
        }
        guard !isTooLarge else { return giveUp() }
        let (draft, _, hasFailed) = state.withLock { $0 }
        guard !hasFailed else { return }
        do {
            let draft = if let draft { draft } else { try await files.contents.draft() }
            state.withLock { $0.draft = draft }
            try await draft.write(bytes)
        } catch {
            giveUp()
        }
    }

    private func giveUp() {
        let draft = state.withLock { state in
            defer { (state.draft, state.hasFailed) = (nil, true) }
            return state.draft
        }
        draft?.discard()
    }

    /// Keeps the copy, because everything has come.
    func keep() async {
        let (draft, size, hasFailed) = state.withLock { $0 }
        let isTooLarge = size > files.limits.content
        guard isTooLarge || !hasFailed else { return }
        do {
            let empty = try await draft == nil && !isTooLarge ? files.contents.draft() : nil
            try await files.keep(contentOf: file, size: size, draft ?? empty)
        } catch {
            // The file was read all the same.
        }
    }

    /// Keeps a copy of a file that was saved.
    func keep(copyOf path: FilePath) async {
        do {
            let saved = try LocalFile(path)
            if saved.size > files.limits.content {
                state.withLock { $0.size = saved.size }
            } else {
                while case let bytes = try await saved.next(), !bytes.isEmpty { await add(bytes) }
            }
            await keep()
        } catch {
            // As above.
        }
    }
}
#endif
