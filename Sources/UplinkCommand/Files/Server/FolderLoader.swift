// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// Reads a folder into a tree, as requests reach what is in it: links are not followed, so that nothing outside is
/// served, and no path is too long.
struct FolderLoader {
    private let folder: FilePath
    private let root: ServedDirectory
    private(set) var tree: FileTree
    /// How many items were left out.
    private(set) var skipped = 0
    private let isCancelled: () -> Bool

    /// - Parameters:
    ///   - folder: The path of `root`, for messages.
    ///   - isCancelled: Asked again and again: a large folder takes long.
    init(_ folder: FilePath, _ root: ServedDirectory, isCancelled: @escaping () -> Bool) {
        (self.folder, self.root, self.isCancelled) = (folder, root, isCancelled)
        tree = FileTree(rootDate: root.date ?? .now)
    }

    /// Loads the folder. A folder in it that cannot be read is left out.
    ///
    /// - Throws: ``ServiceError`` when the folder cannot be read; `CancellationError`.
    mutating func load() throws {
        guard let names = try? root.names() else { throw Self.unreadable(folder) }
        var unseen = [(id: tree.rootID, names: names)]
        while let next = unseen.popLast() {
            guard let directory = try? root.directory(at: tree.path(of: next.id)) else { continue }  // it has gone
            for name in next.names.sorted() {
                if isCancelled() { throw CancellationError() }
                guard let item = add(name, in: next.id, directory) else {
                    skipped += 1
                    continue
                }
                if let names = item.names { unseen.append((item.id, names)) }
            }
        }
    }

    /// Adds a file, or a folder, whose names it returns; nil if it is not to be served.
    private mutating func add(
        _ name: String, in folder: ItemID, _ directory: ServedDirectory
    ) -> (id: ItemID, names: [String]?)? {
        guard !ServedFiles.Upload.isTemporary(name), let status = directory.status(of: name) else { return nil }
        let (date, kind) = (Timestamp(modificationOf: status).nearestWritable, status.st_mode & S_IFMT)
        let names = kind == S_IFDIR ? try? directory.directory(at: [name]).names() : nil
        guard names != nil || kind == S_IFREG else { return nil }
        let size = names == nil ? Int64(status.st_size) : nil
        guard let item = try? tree.add(named: name, in: folder, date: date, size: size) else { return nil }
        return (item.id, names)
    }

    static func unreadable(_ folder: FilePath) -> ServiceError {
        .failed("`\(folder)` is not a folder that can be read")
    }
}
