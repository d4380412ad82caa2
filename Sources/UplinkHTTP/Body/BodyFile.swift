// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkCore

/// A file being written next to its target. Its calls block, so they are made off the loop. Paths are treated as bytes,
/// because they need not be UTF-8.
final class BodyFile: Sendable {
    private let target: BodyTarget
    private let descriptor: FileDescriptor
    /// Its name in the target's directory.
    private let temporary: FilePath
    private let replacesExisting: Bool
    private let isOpen = Locked(true)

    /// Makes the temporary file.
    init(for path: FilePath, replacingExisting: Bool) throws(HTTPClientError) {
        let target = try BodyTarget(path)
        try target.check(replacing: replacingExisting)
        // A random name and O_EXCL: two downloads to one target do not collide, and nobody can prepare the file for us.
        let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
        // NAME_MAX counts bytes.
        let start = String(decoding: target.name.string.utf8.prefix(100), as: UTF8.self).prefix { $0 != "\u{FFFD}" }
        let temporary = FilePath(".\(start).\(suffix).part")
        let number = temporary.withPlatformString {
            openat(target.directory.descriptor, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard number >= 0 else {
            throw BodyTarget.failure("creating a file in `\(target.parent)`", errno, BodyTarget.place)
        }
        (self.target, self.temporary, replacesExisting) = (target, temporary, replacingExisting)
        descriptor = FileDescriptor(rawValue: number)
    }

    deinit { abandon() }

    /// Appends a chunk to the file.
    func append(_ chunk: HTTPBody.Chunk) throws(HTTPClientError) {
        do {
            _ = try chunk.withUnsafeBytes { try descriptor.writeAll($0) }
        } catch {
            throw BodyTarget.failure("writing `\(temporaryPath)`", BodyTarget.number(error), "the disk may be full")
        }
    }

    /// Synchronises the bytes to disk, then gives the file its mode and its name.
    func finish(_ permissions: FilePermissions) throws(HTTPClientError) {
        guard setMode(permissions) else {
            throw BodyTarget.failure(
                "setting the mode of `\(temporaryPath)`", errno, "the file system may have no modes")
        }
        guard fsync(descriptor.rawValue) == 0 else {
            throw BodyTarget.failure("writing `\(temporaryPath)`", errno, "the disk may be full or broken")
        }
        try target.give(to: temporary, replacing: replacesExisting)
        close()
        try target.keepName()
    }

    private func setMode(_ permissions: FilePermissions) -> Bool {
        if fchmod(descriptor.rawValue, permissions.rawValue) == 0 { return true }
        // It may be what nobody has asked for, on a file system that has no modes, such as vfat.
        return permissions == .ownerReadWrite && errno == EPERM
    }

    /// Removes the file, unless it already has its name.
    func abandon() {
        guard close() else { return }
        _ = temporary.withPlatformString { unlinkat(target.directory.descriptor, $0, 0) }
    }

    private var temporaryPath: FilePath { target.parent.appending(temporary.string) }

    @discardableResult
    private func close() -> Bool {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { try? descriptor.close() }
        return wasOpen
    }
}
