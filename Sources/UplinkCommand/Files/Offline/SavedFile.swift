// SPDX-License-Identifier: Apache-2.0
#if Store
import Glibc
import SystemPackage
import UplinkEventLoop
import UplinkHTTP

/// A file of the user's that is being written. It has no name until it is whole, so that nothing of it stays when the
/// process is killed; only where the file system has no such files (NFS, FAT) does it have another name meanwhile.
final class SavedFile: Sendable {
    private let target: FilePath
    private let name: String
    private let replacesExisting: Bool
    private let directory: OpenDirectory
    private let permissions: FilePermissions
    private let descriptor: CInt
    /// Its name until it is whole; nil if it has none.
    private let temporaryName: String?

    /// Creates the file. Blocks.
    ///
    /// - Parameter isUnnamed: Whether it may be without a name.
    /// - Throws: ``FilesError`` when it cannot be created, or something is in the way that is not to be replaced.
    init(_ target: FilePath, replacingExisting: Bool, isUnnamed: Bool = true) throws(FilesError) {
        guard let name = target.lastComponent?.string else { throw Self.isInTheWay(.isNoFile, of: target) }
        let directory: OpenDirectory
        do throws(Errno) { directory = try OpenDirectory(at: target.removingLastComponent()) } catch {
            throw Self.failure(target, error)
        }
        try Self.check(name, in: directory, at: target, replacing: replacingExisting)
        let file: (descriptor: CInt, name: String?)
        do throws(Errno) {
            let unnamed = isUnnamed ? Self.unnamed(in: directory) : nil
            file = if let unnamed { (unnamed, nil) } else { try Self.named(in: directory) }
        } catch {
            throw Self.failure(target, error)
        }
        (self.target, self.name, replacesExisting, self.directory) = (target, name, replacingExisting, directory)
        permissions = DownloadTarget.permissions(of: target)
        (descriptor, temporaryName) = (file.descriptor, file.name)
    }

    deinit {
        close(descriptor)
        if let temporaryName { unlinkat(directory.descriptor, temporaryName, 0) }
    }

    /// Adds bytes.
    ///
    /// - Throws: ``FilesError`` when there is no room for them.
    func write(_ bytes: [UInt8]) async throws {
        try await EventLoop.shared.offLoop { [self] in
            do { try FileDescriptor(rawValue: descriptor).writeAll(bytes) } catch {
                throw Self.failure(target, error as? Errno ?? .ioError)
            }
        }
    }

    /// Gives the file its name, once its bytes are on the disk. Blocks.
    ///
    /// - Throws: ``FilesError`` when it cannot have the name, or something has come in the way.
    func finish() throws(FilesError) {
        try Self.check(name, in: directory, at: target, replacing: replacesExisting)
        fchmod(descriptor, permissions.rawValue)  // a file system without permissions says no
        do throws(Errno) {
            guard fsync(descriptor) == 0 else { throw Errno(rawValue: errno) }
            try giveName()
        } catch .fileExists {
            throw Self.isInTheWay(.exists, of: target)
        } catch {
            throw Self.failure(target, error)
        }
        try? directory.synchronise()  // some file systems cannot
    }

    private func giveName() throws(Errno) {
        if let temporaryName { return try rename(temporaryName, replacing: replacesExisting) }
        do throws(Errno) { return try link(name) } catch {
            guard error == .fileExists, replacesExisting else { throw error }
        }
        // Only what has a name replaces another file.
        let other = Self.otherName()
        try link(other)
        do throws(Errno) { try rename(other, replacing: true) } catch {
            unlinkat(directory.descriptor, other, 0)
            throw error
        }
    }

    private func rename(_ other: String, replacing: Bool) throws(Errno) {
        try FileNaming.rename(other, to: name, in: directory.descriptor, replacing: replacing)
    }

    private func link(_ name: String) throws(Errno) {
        let path = Self.path(of: descriptor)
        guard linkat(AT_FDCWD, path, directory.descriptor, name, AT_SYMLINK_FOLLOW) == 0 else {
            throw Errno(rawValue: errno)
        }
    }

    /// Creates a file without a name; nil where there are none, or they could not be given one.
    private static func unnamed(in directory: OpenDirectory) -> CInt? {
        // O_TMPFILE (open(2)), which the module map leaves out.
        let flags = 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC
        let descriptor = openat(directory.descriptor, ".", flags, 0o600)
        guard descriptor >= 0 else { return nil }
        guard access(path(of: descriptor), F_OK) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func named(in directory: OpenDirectory) throws(Errno) -> (CInt, String) {
        let name = otherName()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(directory.descriptor, name, flags, 0o600)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        return (descriptor, name)
    }

    private static func path(of descriptor: CInt) -> String { "/proc/self/fd/\(descriptor)" }

    private static func otherName() -> String { ".uplink-" + String(UInt64.random(in: 0 ... .max), radix: 16) }

    /// Checks that the target may be written, as a download does.
    private static func check(
        _ name: String, in directory: OpenDirectory, at target: FilePath, replacing: Bool
    ) throws(FilesError) {
        guard let obstacle = try? directory.obstacle(to: name, replacing: replacing) else { return }
        throw isInTheWay(obstacle, of: target)
    }

    private static func isInTheWay(_ obstacle: NameObstacle, of target: FilePath) -> FilesError {
        FilesError(.localFile, obstacle.message(at: target))
    }

    private static func failure(_ target: FilePath, _ error: Errno) -> FilesError {
        let remedy = error == .noSpace ? "make room for it" : "choose another place"
        return FilesError(.localFile, "`\(target)` cannot be written: \(error); \(remedy)")
    }
}
#endif
