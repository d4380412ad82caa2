// SPDX-License-Identifier: Apache-2.0
#if Store
import Glibc
import SystemPackage
import UplinkCore

/// Who may do what with an outbox that several processes have (flock(2) on a file beside the database).
///
/// One runs it, while nobody else cancels what is in it, and any number cancel while nobody runs it. The kernel takes
/// the right back from a process that was killed. The file stays: whoever removes it lets another one in.
final class OutboxLock: Sendable {
    private let descriptor: CInt
    private let file: String
    /// How often to look whether those who change the outbox have done so, which takes them a transaction; on the system's
    /// clock, because they may be other processes.
    static let pause = Duration.milliseconds(10)

    private init(_ name: String, beside path: FilePath) throws(StoreError) {
        let number = String(UInt64(bitPattern: SyncRecord.id(of: name)), radix: 16)
        file = "\(path.string)-outbox-\(number).lock"
        descriptor = try Self.open(file)
        Self.share(descriptor, with: path)
    }

    deinit {
        // A child that was forked meanwhile has the descriptor too, and would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// After how many looks that takes longer than it should.
    private static let patience = 100

    /// The right to run the outbox; those who change it are waited for.
    ///
    /// - Parameter tell: Called once where that takes a second or more, as when such a process was stopped.
    /// - Throws: ``StoreError`` with `outboxInUse` when another one runs it, `CancellationError`.
    static func running(
        _ name: String, beside path: FilePath, whenLate tell: (StoreError) -> Void
    ) async throws -> OutboxLock {
        var lock = try OutboxLock(name, beside: path)
        var looks = 0
        while true {
            if lock.take(LOCK_EX) {
                if lock.isNamed { return lock }
                lock = try OutboxLock(name, beside: path)
            } else {
                // Whoever runs it keeps all others out; who changes it, the runner alone.
                guard lock.take(LOCK_SH) else { throw inUse(name) }
                flock(lock.descriptor, LOCK_UN)
                looks += 1
                if looks == patience { tell(isChanged(name)) }
            }
            try await Task.sleep(for: pause)
        }
    }

    /// The right to change what is in the outbox; nil while somebody runs it.
    ///
    /// - Throws: ``StoreError`` when the file cannot be made.
    static func changing(_ name: String, beside path: FilePath) throws(StoreError) -> OutboxLock? {
        // Each turn somebody has removed the file at the wrong moment.
        for _ in 0..<100 {
            let lock = try OutboxLock(name, beside: path)
            guard lock.take(LOCK_SH) else { return nil }
            if lock.isNamed { return lock }
        }
        return nil
    }

    /// Whether it keeps others out still: they lock what has the file's name.
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

    private func take(_ kind: CInt) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
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

    /// Whoever may write the database may lock its outboxes: the file gets the database's mode and, where we are root, its
    /// owner, as SQLite has it with its own files beside it. Only its owner can do so; others find it done.
    private static func share(_ descriptor: CInt, with path: FilePath) {
        var (database, lock) = (stat(), stat())
        // What has another name may be anybody's file: whoever may write the directory can put it there.
        guard stat(path.string, &database) == 0, fstat(descriptor, &lock) == 0, lock.st_mode & S_IFMT == S_IFREG,
            lock.st_nlink == 1
        else { return }
        // A database that may only be read for a while is locked all the same.
        let mode = database.st_mode & 0o777 | 0o600
        if lock.st_mode & 0o777 != mode { _ = fchmod(descriptor, mode) }
        if geteuid() == 0, (lock.st_uid, lock.st_gid) != (database.st_uid, database.st_gid) {
            _ = fchown(descriptor, database.st_uid, database.st_gid)
        }
    }
}
#endif
