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
        let obstacle: NameObstacle?
        do {
            obstacle = try name.withPlatformString { try directory.obstacle(to: $0, replacing: replacing) }
        } catch {
            throw Self.failure("looking for `\(path)`", Self.number(error), "choose another name")
        }
        if let obstacle { throw error(obstacle) }
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
            throw error(.exists)
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

    private func error(_ obstacle: NameObstacle) -> HTTPClientError {
        let (code, number): (HTTPClientError.Code, CInt) =
            switch obstacle {
            case .exists: (.fileExists, 0)
            case .isNoFile: (.fileFailed, 0)
            case .isOthers: (.fileFailed, EPERM)
            }
        var error = HTTPClientError(
            code, phase: .sink, requestDisposition: .responseStarted, message: obstacle.message(at: path))
        error.errno = number
        return error
    }

    static func number(_ error: any Error) -> CInt { (error as? Errno)?.rawValue ?? 0 }

    static func failure(_ activity: String, _ number: CInt, _ remedy: String) -> HTTPClientError {
        .file(activity, number, remedy, phase: .sink)
    }
}
