// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// A path of this host that the user typed.
struct LocalPath: Sendable {
    private let path: FilePath
    /// Whether it is written as a folder's, with a slash at the end.
    private let isFolder: Bool

    /// `~/` at the beginning means the home directory.
    init(_ text: String) {
        isFolder = text.hasSuffix("/")
        if text.hasPrefix("~/"), let home = getenv("HOME") {
            path = FilePath(String(cString: home)).appending(String(text.dropFirst(2)))
        } else {
            path = FilePath(text)
        }
    }

    /// The file to write; in a folder it gets its own name.
    ///
    /// - Throws: ``FilesError`` when the path names a folder that does not exist.
    func target(for name: String) throws(FilesError) -> FilePath {
        if kind == S_IFDIR { return path.appending(name) }
        guard !isFolder else { throw FilesError(.localFile, DownloadTarget.noDirectory("\(path)/")) }
        return path
    }

    /// The file to read, and its name.
    ///
    /// - Throws: ``FilesError`` when there is no such file, or it is not a file.
    func source() throws(FilesError) -> (path: FilePath, name: String) {
        switch kind {
        case S_IFREG where access(path.string, R_OK) == 0:
            if let name = path.lastComponent?.string { return (path, name) }
        case S_IFDIR: throw FilesError(.localFile, "`\(path)` is a folder; upload its files one by one")
        case nil: throw FilesError(.localFile, "there is no file `\(path)`; check its name")
        default: break
        }
        throw FilesError(.localFile, "`\(path)` cannot be read; it has to be a file that you may read")
    }

    private var kind: mode_t? {
        var status = stat()
        return stat(path.string, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
