// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import Glibc

extension StoreError {
    /// What an error of GRDB means to a user of the store; errors of our own pass unchanged.
    ///
    /// - Parameters:
    ///   - activity: What was being done, such as "reading the query `notes`".
    ///   - otherwise: The kind of every error that says nothing about the file.
    static func database(_ error: any Error, while activity: String, otherwise: Code) -> Self {
        if let error = error as? StoreError { return error }
        guard let error = error as? DatabaseError else {
            return Self(otherwise, message: "\(activity) failed: \(error)", underlyingError: error)
        }
        let (code, advice) = meaning(of: error) ?? (otherwise, nil)
        let words = advice ?? (isOfClosed(error) ? closed : error.message ?? "\(error.resultCode)")
        return Self(code, message: "\(activity) failed: \(words)", underlyingError: error)
    }

    private static func meaning(of error: DatabaseError) -> (Code, String?)? {
        if error.extendedResultCode == .SQLITE_IOERR_SHMSIZE { return (.diskFull, noRoom) }
        return switch error.resultCode {
        case .SQLITE_FULL: (.diskFull, noRoom)
        case .SQLITE_READONLY:
            (.readOnly, "the file cannot be written; see to its permissions and those of its directory")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            (.locked, "another process holds the database; end it, or allow a longer busy timeout")
        case .SQLITE_CORRUPT:
            (
                .corrupt,
                "the file is damaged; move it away together with its `-wal` and `-shm`, then restore a copy or begin "
                    + "with an empty one"
            )
        case .SQLITE_NOTADB: (.notADatabase, "the file is not an SQLite database; was another path meant?")
        case .SQLITE_CANTOPEN: (.cannotOpen, hasDescriptors ? unopened : noDescriptors)
        default: nil
        }
    }

    /// Whether the database was closed. Without a connection, SQLite's text is "out of memory".
    private static func isOfClosed(_ error: DatabaseError) -> Bool {
        error.resultCode == .SQLITE_MISUSE && ["out of memory", "Connection is closed"].contains(error.message)
    }

    /// Whether the process can get descriptors. SQLite says that a file cannot be opened, but not why; by the time we
    /// ask, there may be some again.
    private static var hasDescriptors: Bool {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != EMFILE && errno != ENFILE }
        close(descriptor)
        return true
    }

    private static let unopened = "the file cannot be opened; see to the path and its permissions"
    private static let noDescriptors = "there are too many open files; close some, or raise the limit (ulimit -n)"
    private static let closed = "the database has been closed; close it only after the last use of the store"
    private static let noRoom = "there is no room left; free some and try again"
}
#endif
