// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// The server's items with their contents, in memory or in a folder.
///
/// A folder is read once, at the start; later changes by others are not seen.
actor ServedFiles {
    /// Where contents are.
    enum Place: Sendable {
        /// In memory, with a limit in bytes.
        case memory(limit: Int)
        /// In the folder, as files.
        case folder(FilePath)
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
        place = .memory(limit: limit)
        tree = FileTree(rootDate: .now)
        skipped = 0
    }

    /// Creates a server of the files in a folder. Blocks, for a large folder long.
    ///
    /// - Parameter isCancelled: Whether to stop reading the folder.
    /// - Throws: ``ServiceError`` when it cannot be read; `CancellationError`.
    init(folder: FilePath, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        place = .folder(folder)
        var loader = try FolderLoader(folder, isCancelled: isCancelled)
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
        guard let path = path(of: id) else {
            let bytes = contents[id] ?? Data()
            return Served(item, .bytes(bytes), size: bytes.count, date: item.modificationDate)
        }
        let file = try ServedFile(path.string)
        return Served(item, .file(file), size: file.size, date: file.date)
    }

    func makeFolder(named name: String, in folder: ItemID) throws -> Item {
        try tree.check(name, in: folder)
        if let path = path(of: folder)?.appending(name), mkdir(path.string, 0o777) != 0 {
            guard errno != EEXIST else { throw ServiceError.badRequest("the folder has a file with this name") }
            throw ServiceError.failed("the folder could not be made: \(String(cString: strerror(errno)))")
        }
        return try tree.add(named: name, in: folder, date: .now, size: nil)
    }

    /// How many bytes are in memory.
    private var used: Int { contents.values.reduce(0) { $0 + $1.count } }

    /// A place for an upload's bytes, if the name is allowed.
    func beginUpload(named name: String, in folder: ItemID) throws -> Upload {
        try tree.check(name, in: folder)
        switch place {
        case .memory(let limit):
            return .memory(Upload.Memory(limit: limit - used))
        case .folder(let folder): return .file(try Upload.File(in: folder))
        }
    }

    /// Gives an upload its name; the name may have been taken meanwhile.
    func finish(_ upload: Upload, named name: String, in folder: ItemID) throws -> Item {
        try tree.check(name, in: folder)
        switch upload {
        case .memory(let memory):
            // Others may have ended meanwhile.
            if case .memory(let limit) = place, memory.bytes.count > limit - used { throw ServiceError.full }
            let item = try tree.add(named: name, in: folder, date: .now, size: Int64(memory.bytes.count))
            contents[item.id] = memory.bytes
            return item
        case .file(let file):
            guard let path = path(of: folder) else { throw ServiceError.failed("uploads go to memory here") }
            let date = Timestamp.now
            try file.link(to: path.appending(name), date: date)
            return try tree.add(named: name, in: folder, date: date, size: file.size)
        }
    }

    /// Deletes an item and everything in it. Files that are not served are not deleted, and their folder stays.
    func delete(_ id: ItemID) throws {
        for item in try tree.subtree(of: id) {
            if let path = path(of: item.id) {
                let status = item.isFolder ? rmdir(path.string) : unlink(path.string)
                guard status == 0 || errno == ENOENT else {
                    throw ServiceError.failed(
                        "`\(item.name)` could not be deleted: \(String(cString: strerror(errno)))")
                }
            }
            contents[item.id] = nil
            tree.remove(item)
        }
    }

    private func path(of id: ItemID) -> FilePath? {
        switch place {
        case .memory: nil
        case .folder(let folder): tree.path(of: id).reduce(folder) { $0.appending($1) }
        }
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
