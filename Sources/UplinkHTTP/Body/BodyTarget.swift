// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// The name that a body's file is to have. Its directory is open, so that a relative path means the same to the end.
/// Its calls block.
final class BodyTarget: Sendable {
    /// What a file can be made in.
    static let place = "the directory must exist and be writable"

    let path: FilePath
    let name: FilePath.Component
    let parent: FilePath
    let directory: OpenDirectory

    init(_ path: FilePath) throws(HTTPClientError) {
        guard let name = path.lastComponent else {
            throw Self.failure("writing `\(path)`", 0, "give the name of a file, not a directory")
        }
        (self.path, self.name, parent) = (path, name, path.removingLastComponent())
        do throws(Errno) {
            directory = try OpenDirectory(at: parent)
        } catch {
            throw Self.failure("opening the directory `\(parent)`", error.rawValue, Self.place)
        }
    }

    /// Sees to it that the name may be given.
    func check(replacing: Bool) throws(HTTPClientError) {
        let isFile: Bool?
        do {
            isFile = try name.withPlatformString { try directory.hasRegularFile($0) }
        } catch {
            throw Self.failure("looking for `\(path)`", Self.number(error), "choose another name")
        }
        switch isFile {
        case nil: break
        case true?: if !replacing { throw exists }
        case false?:
            throw Self.failure(
                "writing `\(path)`", 0,
                "it is a directory, a symbolic link or another thing that is no regular file; choose another name, or the "
                    + "file that it leads to")
        }
    }

    /// Gives the name to a file in the directory.
    func give(to temporary: FilePath, replacing: Bool) throws(HTTPClientError) {
        if replacing { try check(replacing: true) }
        do {
            try temporary.withPlatformString { temporary in
                try name.withPlatformString {
                    try FileNaming.rename(temporary, to: $0, in: directory.descriptor, replacing: replacing)
                }
            }
        } catch Errno.fileExists {
            throw exists
        } catch {
            throw Self.failure("naming `\(path)`", Self.number(error), "the directory must be writable")
        }
    }

    /// Makes sure that the name, too, is on the disk.
    func keepName() throws(HTTPClientError) {
        do throws(Errno) {
            try directory.synchronise()
        } catch {
            // Some file systems cannot synchronise a directory, and say so.
            guard [EIO, ENOSPC, EDQUOT].contains(error.rawValue) else { return }
            throw Self.failure(
                "synchronising `\(parent)`", error.rawValue, "the file is there, and may be gone after a power cut")
        }
    }

    private var exists: HTTPClientError {
        HTTPClientError(
            .fileExists, phase: .sink, requestDisposition: .responseStarted,
            message: "`\(path)` exists; choose another name, or ask for it to be replaced")
    }

    static func number(_ error: any Error) -> CInt { (error as? Errno)?.rawValue ?? 0 }

    static func failure(_ activity: String, _ number: CInt, _ remedy: String) -> HTTPClientError {
        let cause = number == 0 ? "" : "\(String(cString: strerror(number))); "
        var error = HTTPClientError(
            .fileFailed, phase: .sink, requestDisposition: .responseStarted,
            message: "\(activity): \(cause)\(remedy)")
        error.errno = number
        return error
    }
}
