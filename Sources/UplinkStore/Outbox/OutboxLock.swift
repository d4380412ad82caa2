// SPDX-License-Identifier: Apache-2.0
#if Store
import Glibc
import SystemPackage
import UplinkCore

/// The right to run or change an outbox that several processes share (flock(2) on a file beside the database).
///
/// One process runs it, while no other cancels entries; any number may cancel while none runs it. The kernel takes the
/// right back from a process that is killed. The file stays: whoever removes it lets another process in.
final class OutboxLock: Sendable {
    private let descriptor: CInt
    private let file: String
    /// The pause between two looks whether those that are changing the outbox are done, which takes them a transaction.
    /// On the system's clock, because they may be other processes.
    static let pause = Duration.milliseconds(10)

    private init(_ name: String, beside path: FilePath) throws(StoreError) {
        let number = String(UInt64(bitPattern: SyncRecord.id(of: name)), radix: 16)
        file = "\(path.string)-outbox-\(number).lock"
        descriptor = try Self.open(file)
        Self.share(descriptor, with: path)
    }

    deinit {
        // A child forked meanwhile has the descriptor too, and would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The number of looks after which that takes longer than it should.
    private static let patience = 100

    /// Returns the right to run the outbox; waits for those that are changing it.
    ///
    /// - Parameter tell: Called once if that takes a second or more, for example because such a process was stopped.
    /// - Throws: ``StoreError`` with `outboxInUse` when another process runs it, `cannotOpen` when the file cannot be
    ///   created or locked; `CancellationError`.
    static func running(
        _ name: String, beside path: FilePath, whenLate tell: (StoreError) -> Void
    ) async throws -> OutboxLock {
        var lock = try OutboxLock(name, beside: path)
        var looks = 0
        while true {
            if try lock.take(LOCK_EX) {
                if lock.isNamed { return lock }
                lock = try OutboxLock(name, beside: path)
            } else {
                // The process that runs it keeps all others out; one that changes it, only the runner.
                guard try lock.take(LOCK_SH) else { throw inUse(name) }
                flock(lock.descriptor, LOCK_UN)
                looks += 1
                if looks == patience { tell(isChanged(name)) }
            }
            try await Task.sleep(for: pause)
        }
    }

    /// Returns the right to change what is in the outbox; nil while a process runs it.
    ///
    /// - Throws: ``StoreError`` when the file cannot be created or locked.
    static func changing(_ name: String, beside path: FilePath) throws(StoreError) -> OutboxLock? {
        // Another turn is only needed if someone removed the file at the wrong moment.
        for _ in 0..<100 {
            let lock = try OutboxLock(name, beside: path)
            guard try lock.take(LOCK_SH) else { return nil }
            if lock.isNamed { return lock }
        }
        return nil
    }

    /// Whether it still keeps others out: they lock whichever file has the name.
    var isNamed: Bool {
        var (mine, named) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && lstat(file, &named) == 0
            && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }

    static func inUse(_ name: String) -> StoreError {
        StoreError(.outboxInUse, message: "the outbox `\(name)` is run already; one process runs it, once at a time")
    }

    private static func isChanged(_ name: String) -> StoreError {
        StoreError(
            .outboxInUse,
            message: "the outbox `\(name)` waits for another process, which is removing an entry and does not end it; "
                + "let that process go on, or end it")
    }

    /// Returns whether no other process has a lock that excludes this one.
    private func take(_ kind: CInt) throws(StoreError) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            default:
                throw StoreError(
                    .cannotOpen,
                    message: "\(file) cannot be locked: \(String(cString: strerror(errno))); keep the store in a file "
                        + "system that has locks")
            }
        }
        return true
    }

    private static func open(_ file: String) throws(StoreError) -> CInt {
        let descriptor = Glibc.open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.cannotOpen, message: "\(file) cannot be made: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    /// Lets every user that may write the database lock its outboxes: the file gets the database's mode and, if we are
    /// root, its owner, as SQLite's own files beside the database do. Only the file's owner can do this; for others it
    /// is done already.
    private static func share(_ descriptor: CInt, with path: FilePath) {
        var (database, lock) = (stat(), stat())
        // A file with another name as well may be anyone's: whoever may write the directory can have linked it there.
        guard stat(path.string, &database) == 0, fstat(descriptor, &lock) == 0, lock.st_mode & S_IFMT == S_IFREG,
            lock.st_nlink == 1
        else { return }
        // A database that is read-only for a while is locked all the same.
        let mode = database.st_mode & 0o777 | 0o600
        if lock.st_mode & 0o777 != mode { _ = fchmod(descriptor, mode) }
        if geteuid() == 0, (lock.st_uid, lock.st_gid) != (database.st_uid, database.st_gid) {
            _ = fchown(descriptor, database.st_uid, database.st_gid)
        }
    }
}
#endif
