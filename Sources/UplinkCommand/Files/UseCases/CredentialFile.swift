// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// The file with server, user and password for the next command: created only on request, and readable only by its
/// owner.
struct CredentialFile: Sendable {
    /// The stored credentials.
    struct Entry: Sendable, Hashable, Codable {
        let server: String
        let user: String
        let password: String
    }

    private static let maximumSize = 65_536
    let path: FilePath

    /// `$XDG_CONFIG_HOME/uplink/files.json`, by default in `~/.config` (XDG Base Directory Specification).
    ///
    /// - Throws: ``FilesError`` when there is no home directory.
    static func standard() throws(FilesError) -> Self {
        guard let base = UserDirectory.path("XDG_CONFIG_HOME", inHome: ".config") else {
            throw FilesError(.localFile, "there is no home directory for the credentials; set HOME")
        }
        return Self(path: base.appending("uplink").appending("files.json"))
    }

    /// Reads the stored credentials; nil when there are none.
    ///
    /// - Throws: ``FilesError`` when the file is a link, is not this user's, is readable for others, or is damaged.
    func read() throws(FilesError) -> Entry? {
        let descriptor = open(path.string, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("read", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read", errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw FilesError(
                .localFile, "`\(path)` is open to others, or not yours; `chmod 600` it, or remove it and log in again")
        }
        var buffer = [UInt8](repeating: 0, count: Self.maximumSize)
        var size = 0
        while size < buffer.count {
            let count = buffer.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[size...])
                return Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", errno) }
            if count == 0 { break }
            size += count
        }
        guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(buffer[..<size])) else {
            throw FilesError(.localFile, "`\(path)` is damaged; remove it and log in again")
        }
        return entry
    }

    /// Stores an entry instead of an earlier one: in a new file, which replaces the old one when it is whole.
    ///
    /// - Throws: ``FilesError`` when it cannot be written.
    func write(_ entry: Entry) throws(FilesError) {
        let directory = path.removingLastComponent()
        try UserDirectory.make(directory, orElse: "see to its permissions, or log in without keeping the password")
        let new = directory.appending(".files.json.\(getpid())")
        unlink(new.string)  // left by a process that died
        let descriptor = open(new.string, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", errno) }
        do throws(FilesError) {
            defer { close(descriptor) }
            do {
                try FileDescriptor(rawValue: descriptor).writeAll(try FilesJSON.encode(entry))
            } catch {
                throw failure("written", (error as? Errno)?.rawValue ?? EINVAL)
            }
            guard fsync(descriptor) == 0, rename(new.string, path.string) == 0 else { throw failure("written", errno) }
        } catch {
            unlink(new.string)
            throw error
        }
    }

    /// Forgets the stored credentials.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: ``FilesError`` when it cannot be removed.
    @discardableResult
    func remove() throws(FilesError) -> Bool {
        if unlink(path.string) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw failure("removed", errno) }
        return false
    }

    private func failure(_ what: String, _ number: CInt) -> FilesError {
        let reason = number == ELOOP ? "it is a link" : String(cString: strerror(number))
        return FilesError(.localFile, "`\(path)` cannot be \(what): \(reason); check it, or remove it and log in again")
    }
}
