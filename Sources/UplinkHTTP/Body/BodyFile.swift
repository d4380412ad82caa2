// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkCore

/// A file being written next to its target. Its calls block, so they are made off the loop. Paths are treated as bytes,
/// because they need not be UTF-8.
final class BodyFile: Sendable {
    private let descriptor: FileDescriptor
    private let temporary: FilePath
    private let target: FilePath
    private let replacesExisting: Bool
    private let isOpen = Locked(true)

    /// Makes the temporary file.
    init(for target: FilePath, replacingExisting: Bool) throws(HTTPClientError) {
        self.target = target
        replacesExisting = replacingExisting
        guard let name = target.lastComponent?.string else {
            throw Self.failure("writing `\(target)`", 0, "give the name of a file, not a directory")
        }
        if !replacingExisting {
            let found = target.withPlatformString { faccessat(AT_FDCWD, $0, F_OK, AT_SYMLINK_NOFOLLOW) }
            if found == 0 { throw Self.exists(target) }
        }
        // A random name and O_EXCL: two downloads to one target do not collide, and nobody can prepare the file for us.
        let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
        // NAME_MAX counts bytes.
        let start = String(decoding: name.utf8.prefix(100), as: UTF8.self).prefix { $0 != "\u{FFFD}" }
        temporary = target.removingLastComponent().appending(".\(start).\(suffix).part")
        do {
            descriptor = try FileDescriptor.open(
                temporary, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
                permissions: [.ownerReadWrite])
        } catch {
            throw Self.failure(
                "creating a file in `\(target.removingLastComponent())`", Self.number(error),
                "the directory must exist and be writable")
        }
    }

    deinit { abandon() }

    /// Appends a chunk to the file.
    func append(_ chunk: HTTPBody.Chunk) throws(HTTPClientError) {
        do {
            _ = try chunk.withUnsafeBytes { try descriptor.writeAll($0) }
        } catch {
            throw Self.failure("writing `\(temporary)`", Self.number(error), "the disk may be full")
        }
    }

    /// Synchronises the bytes to disk, then gives the file its mode and its name.
    func finish(_ permissions: FilePermissions) throws(HTTPClientError) {
        guard permissions == .ownerReadWrite || fchmod(descriptor.rawValue, permissions.rawValue) == 0 else {
            throw Self.failure("setting the mode of `\(temporary)`", errno, "the file system may have no modes")
        }
        guard fsync(descriptor.rawValue) == 0 else {
            throw Self.failure("writing `\(temporary)`", errno, "the disk may be full or broken")
        }
        try giveName()
        close()
        try keepName()
    }

    /// Removes the file, unless it already has its name.
    func abandon() {
        guard close() else { return }
        removeTemporary()
    }

    private func removeTemporary() { _ = temporary.withPlatformString { unlink($0) } }

    @discardableResult
    private func close() -> Bool {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { try? descriptor.close() }
        return wasOpen
    }

    private func giveName() throws(HTTPClientError) {
        do {
            try temporary.withPlatformString { temporary in
                try target.withPlatformString {
                    try FileNaming.rename(temporary, to: $0, replacing: replacesExisting)
                }
            }
        } catch Errno.fileExists {
            throw Self.exists(target)
        } catch {
            throw Self.failure(
                "naming `\(target)`", Self.number(error), "the directory must be writable, the target no directory")
        }
    }

    /// Synchronises the name to disk, too.
    private func keepName() throws(HTTPClientError) {
        let directory = target.removingLastComponent()
        let path: FilePath = directory.isEmpty ? "." : directory
        let descriptor = path.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return }  // it may be writable and not readable
        defer { Glibc.close(descriptor) }
        // Some file systems cannot synchronise a directory, and say so.
        guard fsync(descriptor) != 0, errno == EIO || errno == ENOSPC || errno == EDQUOT else { return }
        throw Self.failure("synchronising `\(path)`", errno, "the file is there, and may be gone after a power cut")
    }

    private static func number(_ error: any Error) -> CInt { (error as? Errno)?.rawValue ?? 0 }

    private static func exists(_ target: FilePath) -> HTTPClientError {
        HTTPClientError(
            .fileExists, phase: .sink, requestDisposition: .responseStarted,
            message: "`\(target)` exists; choose another name, or ask for it to be replaced")
    }

    private static func failure(_ activity: String, _ number: CInt, _ remedy: String) -> HTTPClientError {
        let cause = number == 0 ? "" : "\(String(cString: strerror(number))); "
        var error = HTTPClientError(
            .fileFailed, phase: .sink, requestDisposition: .responseStarted,
            message: "\(activity): \(cause)\(remedy)")
        error.errno = number
        return error
    }
}
