// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// Where a download goes. Checked before anything is fetched.
enum DownloadTarget: Sendable {
    /// The standard output, a device or a pipe: written as the bytes arrive.
    case stream(Output)
    /// A file, which gets its name when it is whole.
    case file(FilePath, replacingExisting: Bool)
    /// A file that exists and stays as it is.
    case existing(FilePath)

    /// Decides by what is at the path.
    ///
    /// - Parameter isOneOfSeveral: Whether there are others, which may be fetched without it.
    /// - Throws: ``CommandFailure`` when nothing can be written there.
    init(
        _ path: String?, replacingExisting: Bool, skippingExisting: Bool = false, isOneOfSeveral: Bool = false
    ) throws(CommandFailure) {
        guard let path, path != "-" else {
            self = .stream(.standard)
            return
        }
        if let number = Self.descriptor(named: path) {
            // This program closes all that it opens itself on exec; what it was given cannot be like that.
            let flags = fcntl(number, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0 else { throw Self.failure(path, EBADF) }
            // If opened again, a file would be written from its beginning.
            let descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 else { throw Self.failure(path, errno) }
            self = .stream(Output(descriptor: descriptor))
            return
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw Self.failure(path, errno) }
            try Self.checkLink(path)
            guard !path.hasSuffix("/") else { throw CommandFailure(Self.noDirectory(path)) }
            try Self.checkDirectory(of: FilePath(path))
            self = .file(FilePath(path), replacingExisting: replacingExisting)
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw CommandFailure("`\(path)` is a directory; give the name of a file in it")
        case S_IFREG:
            guard !skippingExisting else {
                self = .existing(FilePath(path))
                return
            }
            try Self.checkLink(path)
            guard replacingExisting else {
                let others = isOneOfSeveral ? ", or --skip-existing to fetch only the others" : ""
                throw CommandFailure("`\(path)` exists; choose another name, or --force to replace it\(others)")
            }
            try Self.checkDirectory(of: FilePath(path))
            self = .file(FilePath(path), replacingExisting: true)
        default:
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure(path, errno) }
            self = .stream(Output(descriptor: descriptor))
        }
    }

    /// The descriptor of this program that a path refers to, whatever is behind it.
    private static func descriptor(named path: String) -> CInt? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let directory = ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix)
            return directory.flatMap { CInt(path.dropFirst($0.count)) }.flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    /// Whether it is a file, existing or not.
    var isFile: Bool { if case .stream = self { false } else { true } }

    /// Whether what is written there appears on a terminal's screen.
    var isTerminal: Bool { if case .stream(let output) = self { isatty(output.descriptor) == 1 } else { false } }

    /// The file that stays as it is.
    var existing: FilePath? { if case .existing(let path) = self { path } else { nil } }

    /// Refuses a symbolic link, which would otherwise be refused only after everything has been fetched.
    private static func checkLink(_ path: String) throws(CommandFailure) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        throw CommandFailure("`\(path)` is a symbolic link; give the name of the file that it leads to, or another one")
    }

    /// Tries to create a file, because permission bits do not tell everything (read-only and virtual file systems,
    /// quotas).
    private static func checkDirectory(of path: FilePath) throws(CommandFailure) {
        guard path.lastComponent != nil else { throw CommandFailure("`\(path)` is not the name of a file") }
        let directory = path.removingLastComponent()
        var template = (directory.isEmpty ? FilePath(".") : directory).appending(".uplink-XXXXXX").string.utf8CString
            .map { $0 }
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(path.string, errno) }
        close(descriptor)
        unlink(template)
    }

    /// The message for a path that ends in a slash and leads to no directory.
    static func noDirectory(_ path: String) -> String {
        "there is no directory `\(path)`; make it, and give the name of a file in it"
    }

    private static func failure(_ path: String, _ number: CInt) -> CommandFailure {
        let remedy = number == ENOENT || number == ENOTDIR ? "make its directory first" : "choose another place"
        return CommandFailure("`\(path)` cannot be written: \(String(cString: strerror(number))); \(remedy)")
    }

    /// The permissions of the existing file, or those that a new one gets.
    static func permissions(of path: FilePath) -> FilePermissions {
        var status = stat()
        if stat(path.string, &status) == 0 { return FilePermissions(rawValue: status.st_mode & 0o777) }
        return usualPermissions
    }

    /// The permissions that a new file gets, according to the umask. Read once, by `main`: the umask can only be read
    /// by setting it, for all threads.
    static let usualPermissions: FilePermissions = {
        let mask = umask(0)
        umask(mask)
        return FilePermissions(rawValue: 0o666 & ~mask)
    }()
}
