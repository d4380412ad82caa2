// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkHTTP

/// A served folder that is open. What is in it is reached by names, one after the other and through no link, so that
/// nothing outside is reached, whatever others put in a folder's place.
final class ServedDirectory: Sendable {
    private let descriptor: CInt

    /// Opens the folder that all others are in; links on the way to it are followed.
    ///
    /// - Throws: ``ServiceError`` when it is not a folder that can be read.
    init(at path: FilePath) throws(ServiceError) {
        let descriptor = open(path.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FolderLoader.unreadable(path) }
        self.descriptor = descriptor
    }

    private init(_ name: String, in parent: ServedDirectory) throws(ServiceError) {
        let descriptor = openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard ![ENOENT, ENOTDIR, ELOOP].contains(errno) else { throw .notFound }
            throw .failed("the folder `\(name)` could not be opened: \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The folder at the end of these names.
    ///
    /// - Throws: ``ServiceError/notFound`` when one of them is not a folder's.
    func directory(at names: [String]) throws(ServiceError) -> ServedDirectory {
        var directory = self
        for name in names { directory = try ServedDirectory(name, in: directory) }
        return directory
    }

    /// When something was last added or removed; nil if the file system does not say.
    var date: Timestamp? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Timestamp(modificationOf: status).nearestWritable : nil
    }

    /// What the system says of an item, or of a link itself; nil if there is none.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// What is in it.
    func names() throws(Errno) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let error = Errno(rawValue: errno)
            if copy >= 0 { close(copy) }
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    func file(_ name: String) throws(ServiceError) -> ServedFile { try ServedFile(name, in: descriptor) }

    func makeFolder(_ name: String) throws(Errno) { try Self.check(mkdirat(descriptor, name, 0o777)) }

    /// Creates a file for writing, with the permissions that the umask leaves.
    ///
    /// - Throws: `Errno.fileExists` when there is something with this name.
    func create(_ name: String) throws(Errno) -> FileDescriptor {
        let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        try Self.check(file)
        return FileDescriptor(rawValue: file)
    }

    /// Gives a file another name.
    ///
    /// - Throws: `Errno.fileExists` when there is something with this name.
    func rename(_ name: String, to target: String) throws(Errno) {
        try FileNaming.rename(name, to: target, in: descriptor, replacing: false)
    }

    /// Removes a file, or a folder with nothing in it, if it is there.
    func remove(_ name: String, isFolder: Bool = false) throws(Errno) {
        guard unlinkat(descriptor, name, isFolder ? AT_REMOVEDIR : 0) != 0, errno != ENOENT else { return }
        throw Errno(rawValue: errno)
    }

    private static func check(_ result: CInt) throws(Errno) {
        guard result >= 0 else { throw Errno(rawValue: errno) }
    }
}
