// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// Reads a folder into a tree. Links are not followed, so that nothing outside is served.
struct FolderLoader {
    private let folder: FilePath
    private(set) var tree: FileTree
    /// What was left out.
    private(set) var skipped = 0

    /// - Throws: ``ServiceError`` when the folder is none.
    init(_ folder: FilePath) throws {
        var status = stat()
        guard stat(folder.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw ServiceError.failed("`\(folder)` is not a folder that can be read")
        }
        self.folder = folder
        tree = FileTree(rootDate: Timestamp(modificationOf: status))
    }

    /// - Throws: ``ServiceError`` when the folder, or one in it, cannot be read.
    mutating func load() throws { try load(folder, as: tree.rootID) }

    private mutating func load(_ folder: FilePath, as id: ItemID) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.string).sorted() {
            let path = folder.appending(name)
            var status = stat()
            let kind = lstat(path.string, &status) == 0 ? status.st_mode & S_IFMT : 0
            guard kind == S_IFREG || kind == S_IFDIR, !name.hasPrefix(ServedFiles.Upload.prefix),
                let item = try? tree.add(
                    named: name, in: id, date: Timestamp(modificationOf: status),
                    size: kind == S_IFREG ? Int64(status.st_size) : nil)
            else {
                skipped += 1
                continue
            }
            if item.isFolder { try load(path, as: item.id) }
        }
    }
}
