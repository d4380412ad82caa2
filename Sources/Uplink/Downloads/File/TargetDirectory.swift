// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkHTTP

/// A target's directory, kept open so that a relative path keeps its meaning, and the target in it. Its calls block.
final class TargetDirectory: Sendable {
    let path: FilePath
    let names: PartialNames
    let descriptor: CInt
    /// Whether it can be synchronised.
    private let isReadable: Bool

    /// O_PATH (open(2)), which the module map lacks.
    private static let pathOnly: CInt = 0o10_000_000

    init(of target: FilePath) throws(DownloadError) {
        guard let names = PartialNames(target) else {
            throw DownloadError(.invalidOptions, message: "`\(target)` is no name of a file; give one")
        }
        let directory = names.directory
        func opened(_ flags: CInt) -> CInt {
            directory.withPlatformString { open($0, flags | O_DIRECTORY | O_CLOEXEC) }
        }
        let readable = opened(O_RDONLY)
        // It may be writable and not readable.
        let descriptor = readable >= 0 ? readable : opened(Self.pathOnly)
        guard descriptor >= 0 else { throw .file("opening the directory `\(directory)`", errno) }
        (path, self.names, self.descriptor, isReadable) = (target, names, descriptor, readable >= 0)
    }

    deinit { close(descriptor) }

    /// Checks that the target may be written.
    func checkTarget(replacing: Bool) throws(DownloadError) {
        var status = stat()
        guard fstatat(descriptor, names.target, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw .file("looking for `\(path)`", errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DownloadError(
                .targetNotAFile,
                message: "`\(path)` is a directory, a symbolic link or another thing that is no regular file; choose "
                    + "another name, or the file that it leads to")
        }
        if !replacing { throw exists }
    }

    var exists: DownloadError {
        DownloadError(
            .targetExists, message: "`\(path)` exists; choose another name, or ask for it to be replaced")
    }

    /// Gives the partial file the target's name.
    func name(replacing: Bool) throws(DownloadError) {
        if replacing { try checkTarget(replacing: true) }
        do throws(Errno) {
            try FileNaming.rename(names.partial, to: names.target, in: descriptor, replacing: replacing)
        } catch .fileExists {
            throw exists
        } catch {
            throw .file("naming `\(path)`", error.rawValue)
        }
    }

    func remove(_ name: [CChar]) { unlinkat(descriptor, name, 0) }

    /// Removes the partial file and its record: the bytes first, because a record alone is harmless.
    func removePartial() {
        for name in [names.partial, names.record, names.newRecord] { remove(name) }
    }

    /// Flushes the names to the disk; some file systems cannot.
    func synchronise() { if isReadable { fsync(descriptor) } }
}
