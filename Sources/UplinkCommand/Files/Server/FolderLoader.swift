// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// Reads a folder into a tree. Links are not followed, so that nothing outside is served.
struct FolderLoader {
    private let folder: FilePath
    private(set) var tree: FileTree
    /// How many items were left out.
    private(set) var skipped = 0
    private let isCancelled: () -> Bool

    /// - Parameter isCancelled: Asked again and again: a large folder takes long.
    /// - Throws: ``ServiceError`` when it is not a folder.
    init(_ folder: FilePath, isCancelled: @escaping () -> Bool) throws {
        var status = stat()
        guard stat(folder.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Self.unreadable(folder)
        }
        (self.folder, self.isCancelled) = (folder, isCancelled)
        tree = FileTree(rootDate: Timestamp(modificationOf: status))
    }

    /// Loads the folder. A folder in it that cannot be read is left out.
    ///
    /// - Throws: ``ServiceError`` when the folder cannot be read; `CancellationError`.
    mutating func load() throws {
        guard let names = Self.names(in: folder) else { throw Self.unreadable(folder) }
        try load(names, of: folder, as: tree.rootID)
    }

    private mutating func load(_ names: [String], of folder: FilePath, as id: ItemID) throws {
        for name in names {
            if isCancelled() { throw CancellationError() }
            let path = folder.appending(name)
            var status = stat()
            let kind = lstat(path.string, &status) == 0 ? status.st_mode & S_IFMT : 0
            guard kind == S_IFREG || kind == S_IFDIR, !name.hasPrefix(ServedFiles.Upload.prefix),
                let names = kind == S_IFDIR ? Self.names(in: path) : [],
                let item = try? tree.add(
                    named: name, in: id, date: Timestamp(modificationOf: status),
                    size: kind == S_IFREG ? Int64(status.st_size) : nil)
            else {
                skipped += 1
                continue
            }
            try load(names, of: path, as: item.id)
        }
    }

    private static func names(in folder: FilePath) -> [String]? {
        try? FileManager.default.contentsOfDirectory(atPath: folder.string).sorted()
    }

    static func unreadable(_ folder: FilePath) -> ServiceError {
        .failed("`\(folder)` is not a folder that can be read")
    }
}
