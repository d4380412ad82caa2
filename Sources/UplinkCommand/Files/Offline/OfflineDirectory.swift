// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import Glibc
import SystemPackage
import Uplink
import UplinkHTTP

/// The directory for one user's files of one server. No one else can look into it.
///
/// Its contents are not encrypted, and include no password.
struct OfflineDirectory: Sendable {
    let path: FilePath

    var database: FilePath { path.appending("store.db") }
    var contents: FilePath { path.appending("contents") }
    var uploads: FilePath { path.appending("uploads") }

    /// A directory of `$XDG_STATE_HOME/uplink/files`, by default in `~/.local/state` (XDG Base Directory
    /// Specification).
    ///
    /// - Throws: ``FilesError`` when there is no home directory.
    static func standard(for server: FilesServerURL, user: String) throws(FilesError) -> Self {
        guard let base = UserDirectory.path("XDG_STATE_HOME", inHome: ".local/state") else {
            throw FilesError(.localFile, "there is no home directory for what is kept; set HOME, or use --online")
        }
        let files = base.appending("uplink").appending("files")
        return Self(path: files.appending(name(for: server, user: user)))
    }

    /// A name that is the same for the same server and user, and for no others.
    static func name(for server: FilesServerURL, user: String) -> String {
        var hash = SHA256()
        hash.update(Array("\(user)\n\(server.text)".utf8))  // a user's name contains no line break
        return Hexadecimal.text(hash.finish().prefix(16))
    }

    /// Creates what is missing, for this user only. SQLite gives its other files the permissions of the database.
    ///
    /// - Throws: ``FilesError`` when that fails, or when others can look into it.
    func make() throws(FilesError) {
        for directory in [contents, uploads] { try UserDirectory.make(directory, orElse: "or use --online") }
        for directory in [path, contents, uploads] {
            var status = stat()
            guard lstat(directory.string, &status) == 0 else { throw failure(directory) }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw FilesError(
                    .localFile, "`\(directory)` is in the way: it is not a directory; move it away, or use --online")
            }
            guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
                throw FilesError(
                    .localFile, "`\(directory)` is open to others, or not yours; `chmod 700` it, or use --online")
            }
        }
        try refuseUploadsOfAnother()
        let descriptor = open(database.string, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(database) }
        close(descriptor)
    }

    /// Uploads beside a database that is missing or empty waited in another one. The new one, which knows nothing of
    /// them, would remove them.
    private func refuseUploadsOfAnother() throws(FilesError) {
        // First: who creates a database uploads nothing before.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: uploads.string)) ?? []
        var status = stat()
        if names.isEmpty || stat(database.string, &status) == 0 && status.st_size > 0 { return }
        throw FilesError(
            .localFile,
            "`\(uploads)` has \(names.count == 1 ? "a file" : "\(names.count) files") that waited to be sent, and "
                + "`\(database)`, which knew what they were, is gone; restore that, or move the files elsewhere; or use "
                + "--online")
    }

    private func failure(_ path: FilePath) -> FilesError {
        FilesError(.localFile, "`\(path)` cannot be made: \(String(cString: strerror(errno))); or use --online")
    }
}
#endif
