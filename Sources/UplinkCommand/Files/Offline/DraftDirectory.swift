// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import SystemPackage
import UplinkCore
import UplinkEventLoop

/// Files named by rows of the database: each is whole before its row is written, and is removed after the row.
struct DraftDirectory: Sendable {
    let path: FilePath

    func path(of name: String) -> FilePath { path.appending(name) }

    func remove(_ name: String) { unlink(path(of: name).string) }

    /// Creates a file, which is only for this user.
    ///
    /// - Throws: ``FilesError`` when it cannot be created.
    func draft() async throws -> Draft {
        try await EventLoop.shared.offLoop { [path] in try Draft(in: path) }
    }

    /// Removes files that no row names, which a killed process leaves behind. A draft that is being written is locked,
    /// and stays until its row is there.
    ///
    /// - Parameter named: The names in the database, at this moment.
    func sweep(named: @Sendable () async throws -> Set<String>) async throws {
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: path.string))
        for name in names.subtracting(try await named()) {
            let descriptor = open(path(of: name).string, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, !(try await named()).contains(name) else { continue }
            remove(name)
        }
    }
}

/// A file that is being written; it is removed unless it is kept.
final class Draft: Sendable {
    let name: String
    let path: FilePath
    private let descriptor: CInt
    /// Whether it has been decided what becomes of it.
    private let isSettled = Locked(false)

    fileprivate init(in directory: FilePath) throws(FilesError) {
        while true {
            let name = UUID().uuidString
            let path = directory.appending(name)
            let descriptor = open(path.string, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Self.failure(path, errno) }
            var status = stat()
            guard Self.lock(descriptor), fstat(descriptor, &status) == 0 else {
                let reason = errno
                unlink(path.string)
                close(descriptor)
                throw Self.failure(path, reason)
            }
            if status.st_nlink > 0 {
                (self.name, self.path, self.descriptor) = (name, path, descriptor)
                return
            }
            close(descriptor)  // a sweep came between the two calls
        }
    }

    private static func lock(_ descriptor: CInt) -> Bool {
        while flock(descriptor, LOCK_EX) != 0 { guard errno == EINTR else { return false } }
        return true
    }

    deinit {
        discard()
        close(descriptor)
    }

    /// Adds bytes.
    ///
    /// - Throws: ``FilesError`` when there is no room for them.
    func write(_ bytes: [UInt8]) async throws {
        try await EventLoop.shared.offLoop { [self] in
            do { try FileDescriptor(rawValue: descriptor).writeAll(bytes) } catch {
                throw Self.failure(path, (error as? Errno)?.rawValue ?? EIO)
            }
        }
    }

    /// Makes what was written survive a power cut.
    func seal() async throws {
        try await EventLoop.shared.offLoop { [self] in
            guard fsync(descriptor) == 0 else { throw Self.failure(path, errno) }
            let directory = open(path.removingLastComponent().string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard directory >= 0 else { throw Self.failure(path, errno) }
            defer { close(directory) }
            guard fsync(directory) == 0 else { throw Self.failure(path, errno) }
        }
    }

    /// Keeps the file, because a row names it now.
    func keep() { isSettled.withLock { $0 = true } }

    /// Removes the file, unless it has been kept.
    func discard() {
        let isUnwanted = isSettled.withLock { isSettled in
            defer { isSettled = true }
            return !isSettled
        }
        if isUnwanted { unlink(path.string) }
    }

    private static func failure(_ path: FilePath, _ number: CInt) -> FilesError {
        FilesError(.localFile, "`\(path)` cannot be written: \(String(cString: strerror(number))); make room for it")
    }
}
#endif
