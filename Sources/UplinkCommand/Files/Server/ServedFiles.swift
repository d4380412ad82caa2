// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// The server's items with their contents, in memory or in a folder.
///
/// A folder is read once, at the start; later changes by others are not seen.
actor ServedFiles {
    /// Where contents are.
    enum Place: Sendable {
        /// In memory, as far as there is room.
        case memory(MemoryBudget)
        /// In the folder, as files.
        case folder(ServedDirectory)
    }

    /// A file's content.
    enum Content: Sendable {
        case bytes(Data)
        case file(ServedFile)
    }

    /// A file's content and its description.
    struct Served: Sendable {
        let item: Item
        let content: Content
        let size: Int
        /// A tag that distinguishes this content from the file's earlier and later ones (RFC 9110, section 8.8.3).
        let tag: String

        init(_ item: Item, _ content: Content, size: Int, date: Timestamp) {
            (self.item, self.content, self.size) = (item, content, size)
            tag = "\"\(date.seconds)-\(date.nanoseconds)-\(size)\""
        }
    }

    let place: Place
    private var tree: FileTree
    private var contents: [ItemID: Data] = [:]
    /// How many items of the folder are not served: links, names that the contract does not allow, folders that cannot
    /// be read.
    nonisolated let skipped: Int

    /// Creates an empty server in memory.
    init(limit: Int = 256 << 20) {
        place = .memory(MemoryBudget(limit))
        tree = FileTree(rootDate: .now)
        skipped = 0
    }

    /// Creates a server of the files in a folder. Blocks, for a large folder long.
    ///
    /// - Parameter isCancelled: Whether to stop reading the folder.
    /// - Throws: ``ServiceError`` when it cannot be read; `CancellationError`.
    init(folder: FilePath, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        let root = try ServedDirectory(at: folder)
        place = .folder(root)
        var loader = FolderLoader(folder, root, isCancelled: isCancelled)
        try loader.load()
        (tree, skipped) = (loader.tree, loader.skipped)
    }

    /// The folder that all others are in.
    var root: Item { get throws { try tree.item(tree.rootID) } }

    func items(in folder: ItemID) throws -> [Item] { try tree.items(in: folder) }

    /// - Throws: ``ServiceError`` when the item has no data.
    func content(of id: ItemID) throws -> Served {
        let item = try tree.item(id)
        guard !item.isFolder else { throw ServiceError.badRequest("a folder has no data") }
        guard let directory = try directory(with: item) else {
            let bytes = contents[id] ?? Data()
            return Served(item, .bytes(bytes), size: bytes.count, date: item.modificationDate)
        }
        let file = try directory.file(item.name)
        return Served(item, .file(file), size: file.size, date: file.date)
    }

    func makeFolder(named name: String, in folder: ItemID) throws -> Item {
        try check(name, in: folder)
        defer { touch(folder) }
        let directory = try directory(of: folder)
        do { try directory?.makeFolder(name) } catch Errno.fileExists {
            throw ServiceError.badRequest("the folder has a file with this name")
        } catch {
            throw ServiceError.failed("the folder could not be made: \(error)")
        }
        // That on the disk, as after a restart: the system's time there is a little behind.
        let date = (try? directory?.directory(at: [name]))?.date ?? .now
        return try tree.add(named: name, in: folder, date: date, size: nil)
    }

    /// A place for an upload's bytes, if the name is allowed.
    func beginUpload(named name: String, in folder: ItemID) throws -> Upload {
        try check(name, in: folder)
        switch place {
        case .memory(let budget): return .memory(MemoryUpload(within: budget))
        case .folder(let root): return .file(try Upload.File(in: root.directory(at: tree.path(of: folder))))
        }
    }

    /// After a restart an item with the name of an upload would be taken for what is left of one.
    private func check(_ name: String, in folder: ItemID) throws(ServiceError) {
        try tree.check(name, in: folder)
        if Upload.isTemporary(name) { throw .badRequest("`\(name)` is a name of the server's own") }
    }

    /// Gives an upload its name; the name may have been taken meanwhile.
    func finish(_ upload: Upload, named name: String, in folder: ItemID) throws -> Item {
        try tree.check(name, in: folder)
        defer { touch(folder) }
        switch upload {
        case .memory(let memory):
            let item = try tree.add(named: name, in: folder, date: .now, size: Int64(memory.size))
            contents[item.id] = memory.take()
            return item
        case .file(let file):
            let date = Timestamp.now
            try file.give(name, date: date)
            return try tree.add(named: name, in: folder, date: date, size: file.size)
        }
    }

    /// Ends an upload that gets no name. The file that it had changed the folder's date.
    func giveUp(_ upload: Upload, in folder: ItemID) {
        upload.end()
        if case .file = upload { touch(folder) }
    }

    /// Deletes an item and everything in it; a folder only if all that is in it is served.
    ///
    /// - Parameter check: Called with the tag of a file's content before anything is deleted; with nil for a folder and
    ///   for a file that cannot be read.
    func delete(_ id: ItemID, if check: (_ tag: String?) throws(ServiceError) -> Void = { _ in }) throws {
        _ = try tree.item(id)
        try check((try? content(of: id))?.tag)
        let doomed = try tree.subtree(of: id)
        try checkAllIsServed(in: doomed.filter(\.isFolder))
        for item in doomed {
            do {
                try directory(with: item)?.remove(item.name, isFolder: item.isFolder)
            } catch ServiceError.notFound {
                // It has gone with its folder.
            } catch let error as Errno {
                throw ServiceError.failed("`\(item.name)` could not be deleted: \(error)")
            }
            if case .memory(let budget) = place { budget.give(contents[item.id]?.count ?? 0) }
            contents[item.id] = nil
            tree.remove(item)
            if let parent = item.parentID { touch(parent) }
        }
    }

    /// Checks this before anything is deleted, so that what others have put there does not leave half a folder. What is
    /// left of an upload goes with it.
    private func checkAllIsServed(in folders: [Item]) throws(ServiceError) {
        var left: [(ServedDirectory, String)] = []
        for folder in folders {
            // What is not there, or cannot be read, is found when it is to be deleted.
            guard let directory = try? directory(of: folder.id), let names = try? directory.names() else { continue }
            let served = try tree.names(in: folder.id)
            for name in names where !served.contains(Array(name.utf8)) {
                guard Upload.isTemporary(name) else {
                    throw .badRequest("the folder `\(folder.name)` has a `\(name)`, which is not served")
                }
                left.append((directory, name))
            }
        }
        for (directory, name) in left { try? directory.remove(name) }
    }

    /// Gives a folder in which something has changed its new date: that on the disk, so that it is the same after a
    /// restart.
    private func touch(_ folder: ItemID) {
        tree.touch(folder, (try? directory(of: folder))?.date ?? .now)
    }

    /// A folder on the disk; nil when all is in memory.
    private func directory(of folder: ItemID) throws(ServiceError) -> ServedDirectory? {
        switch place {
        case .memory: nil
        case .folder(let root): try root.directory(at: tree.path(of: folder))
        }
    }

    /// The folder on the disk that an item is in; nil when all is in memory.
    private func directory(with item: Item) throws(ServiceError) -> ServedDirectory? {
        guard let parent = item.parentID else { return nil }
        return try directory(of: parent)
    }
}

extension Timestamp {
    /// When a file was last changed.
    init(modificationOf status: stat) {
        self.init(seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int32(status.st_mtim.tv_nsec))
    }

    /// The system's time.
    static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
    }
}
