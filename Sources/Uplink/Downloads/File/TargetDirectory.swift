// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkHTTP

/// A target's directory, kept open so that a relative path keeps its meaning, and the target in it. Its calls block.
final class TargetDirectory: Sendable {
    let path: FilePath
    let names: PartialNames
    private let directory: OpenDirectory

    var descriptor: CInt { directory.descriptor }

    init(of target: FilePath) throws(DownloadError) {
        guard let names = PartialNames(target) else {
            guard !target.isEmpty else {
                throw DownloadError(.invalidOptions, message: "the target is empty; name a file")
            }
            throw DownloadError(.targetNotAFile, message: "`\(target)` is a directory; add the name of a file")
        }
        do throws(Errno) {
            directory = try OpenDirectory(at: names.directory)
        } catch {
            throw .file("opening the directory `\(names.directory)`", error.rawValue)
        }
        (path, self.names) = (target, names)
    }

    /// Checks that the target may be written.
    func checkTarget(replacing: Bool) throws(DownloadError) {
        let obstacle: NameObstacle?
        do throws(Errno) {
            obstacle = try directory.obstacle(to: names.target, replacing: replacing)
        } catch {
            throw .file("looking for `\(path)`", error.rawValue)
        }
        if let obstacle { throw error(obstacle) }
    }

    var exists: DownloadError { error(.exists) }

    private func error(_ obstacle: NameObstacle) -> DownloadError {
        let (code, number): (DownloadError.Code, CInt) =
            switch obstacle {
            case .exists: (.targetExists, 0)
            case .isNoFile: (.targetNotAFile, 0)
            case .isOthers: (.notWritable, EPERM)
            }
        var error = DownloadError(code, message: obstacle.message(at: path))
        error.errno = number
        return error
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

    /// The error for a system call on a file beside the target. A directory with its name is not ours, and stays.
    func failure(_ activity: String, _ name: [CChar], _ number: CInt) -> DownloadError {
        let file = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let what = "\(activity) `\(file)`, beside `\(path)`"
        guard number == EISDIR || number == EEXIST else { return .file(what, number) }
        return .file(what, number, "remove what has this name, or choose another name")
    }

    /// Removes the partial file and its record. The bytes go last, because their name is the lock: without it, the
    /// record may already be another download's.
    func removePartial() {
        for name in [names.record, names.newRecord, names.partial] { remove(name) }
    }

    /// Flushes the names to the disk; some file systems cannot.
    func synchronise() { try? directory.synchronise() }
}
