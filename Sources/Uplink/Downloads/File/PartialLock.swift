// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The lock by which only one download has a partial file (flock(2)), in this process and all others.
enum PartialLock {
    /// Opens or creates the file, and locks it; ``release(_:)`` ends the lock.
    ///
    /// - Parameter keeping: Whether bytes that are there may stay.
    static func open(in directory: TargetDirectory, keeping: Bool) throws(DownloadError) -> CInt {
        // Another turn is only needed if another download renamed or removed the file at the wrong moment.
        for _ in 0..<100 {
            if let descriptor = try attempt(directory, keeping: keeping) { return descriptor }
        }
        throw busy(directory)
    }

    /// Removes what a killed process left of a finished download: a second name of the target, a record without bytes.
    /// Bytes stay, for a download that replaces the target, and so do files that another download has.
    static func removeLeftovers(in directory: TargetDirectory) {
        let names = [directory.names.partial, directory.names.record, directory.names.newRecord]
        var status = stat()
        guard names.contains(where: { fstatat(directory.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) == 0 }),
            let descriptor = try? open(in: directory, keeping: true)
        else { return }
        if fstat(descriptor, &status) == 0, status.st_size == 0 { directory.removePartial() }
        release(descriptor)
    }

    /// Unlocks the file and closes it: a child that was forked meanwhile has the descriptor too, and would keep the
    /// lock.
    static func release(_ descriptor: CInt) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether no one else has written a file, or can write or read it.
    static func isOurs(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink == 1
            && status.st_mode & 0o077 == 0
    }

    /// Opens and locks the file once; nil when that has to be tried again.
    private static func attempt(_ directory: TargetDirectory, keeping: Bool) throws(DownloadError) -> CInt? {
        let (folder, name) = (directory.descriptor, directory.names.partial)
        var isNew = true
        var descriptor = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST {
            isNew = false
            descriptor = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if descriptor < 0, errno == ENOENT { return nil }
            if descriptor < 0 {
                try clear(name, in: directory, after: errno)
                return nil
            }
        }
        guard descriptor >= 0 else { throw .file("creating a file beside `\(directory.path)`", errno) }
        do throws(DownloadError) {
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                if number == EWOULDBLOCK { throw busy(directory) }
                if isNew { try remove(name, in: directory) }
                throw .file(
                    "locking a file beside `\(directory.path)`", number,
                    "the file system cannot lock; choose a directory elsewhere")
            }
            var (mine, named) = (stat(), stat())
            let isNamed =
                fstat(descriptor, &mine) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
                && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
            if isNamed, isNew || (keeping && isOurs(mine)) { return descriptor }
            if isNamed { try remove(name, in: directory) }
        } catch {
            release(descriptor)
            throw error
        }
        release(descriptor)
        return nil
    }

    /// Removes what cannot be opened because it is a symbolic link or a socket. Nothing else is removed without its
    /// lock, because it may belong to a download under way, perhaps another user's.
    private static func clear(
        _ name: [CChar], in directory: TargetDirectory, after number: CInt
    ) throws(DownloadError) {
        var status = stat()
        let isThere = fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        if !isThere, errno == ENOENT { return }
        switch number {
        case ELOOP, ENXIO:
            if isThere, status.st_mode & S_IFMT != S_IFREG { try remove(name, in: directory) }
        case EACCES, EPERM:
            var error = DownloadError(
                .notWritable,
                message: "the file in the making of `\(directory.path)` belongs to somebody else; let them finish it "
                    + "or remove it, or choose another name")
            error.errno = number
            throw error
        default: throw directory.failure("opening", name, number)
        }
    }

    private static func remove(_ name: [CChar], in directory: TargetDirectory) throws(DownloadError) {
        guard unlinkat(directory.descriptor, name, 0) != 0, errno != ENOENT else { return }
        throw .file("removing what an earlier download to `\(directory.path)` has left", errno)
    }

    private static func busy(_ directory: TargetDirectory) -> DownloadError {
        DownloadError(
            .targetBusy,
            message: "another download to `\(directory.path)` is under way; wait for it, or choose another name")
    }
}
