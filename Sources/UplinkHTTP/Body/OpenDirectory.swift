// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// A directory that is open, so that names in it mean the same whatever becomes of its path, and of the working
/// directory. Its calls block.
package final class OpenDirectory: Sendable {
    package let descriptor: CInt
    /// Whether it can be synchronised.
    private let isReadable: Bool

    /// O_PATH (open(2)), which the module map leaves out.
    private static let pathOnly: CInt = 0o10_000_000

    /// Opens the directory; an empty path is the working directory.
    package init(at path: FilePath) throws(Errno) {
        let path = path.isEmpty ? "." : path
        func opened(_ flags: CInt) -> CInt { path.withPlatformString { open($0, flags | O_DIRECTORY | O_CLOEXEC) } }
        let readable = opened(O_RDONLY)
        // It may be writable and not readable.
        descriptor = readable >= 0 ? readable : opened(Self.pathOnly)
        isReadable = readable >= 0
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether a regular file has the name; nil where nothing has it. A symbolic link is none, wherever it leads.
    package func hasRegularFile(_ name: UnsafePointer<CChar>) throws(Errno) -> Bool? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw Errno(rawValue: errno) }
            return nil
        }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether only somebody else may replace the file of this name: in a directory for everybody, such as `/tmp`, a
    /// file's owner may, the directory's, and whoever may act as the owner of all (the sticky bit, inode(7)).
    package func isForOthersToReplace(_ name: UnsafePointer<CChar>) -> Bool {
        var (own, file) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, fstatat(descriptor, name, &file, AT_SYMLINK_NOFOLLOW) == 0 else {
            return false
        }
        return own.st_mode & S_ISVTX != 0 && ![own.st_uid, file.st_uid].contains(geteuid()) && !Self.mayActAsOwner
    }

    /// Whether the thread has CAP_FOWNER (capabilities(7)); true where that cannot be found out, and the kernel
    /// decides.
    private static var mayActAsOwner: Bool {
        var status = [UInt8](repeating: 0, count: 4096)
        let file = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        let count = file < 0 ? 0 : max(0, read(file, &status, status.count))
        let line = status.prefix(count).split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "CapEff:".utf8) }
        let set = line.flatMap { UInt64(String(decoding: $0.suffix(16), as: UTF8.self), radix: 16) }
        return set.map { $0 & 1 << 3 != 0 } ?? true
    }

    /// Makes sure that the names are on the disk; some file systems cannot, and say so.
    package func synchronise() throws(Errno) {
        guard !isReadable || fsync(descriptor) == 0 else { throw Errno(rawValue: errno) }
    }
}
