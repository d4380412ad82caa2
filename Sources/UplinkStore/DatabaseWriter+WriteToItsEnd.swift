// SPDX-License-Identifier: Apache-2.0
#if Store
package import GRDB

extension DatabaseWriter {
    /// Writes in one transaction, and makes sure that what is to be done after it learns how it ended.
    ///
    /// If a commit fails because the disk is full, SQLite rolls back by itself. GRDB (7.10) does not report that to the
    /// handlers of `afterNextTransaction`, which would take the next transaction's commit for that of their own. An
    /// empty transaction that is rolled back in between ends them.
    ///
    /// It may be the database's own log (WAL) that fills the disk, as SQLite moves it into the database only when it
    /// has four megabytes. So that is done, and the updates are made again.
    package func writeToItsEnd<T: Sendable>(_ updates: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await writeWithoutTransaction { db in
            do { return try db.write(updates) } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL
            {
                guard let log = try? db.checkpoint(.passive), log.checkpointedFrameCount > 0 else { throw error }
                return try db.write(updates)
            }
        }
    }
}

extension Database {
    fileprivate func write<T>(_ updates: (Database) throws -> T) throws -> T {
        var result: T?
        do {
            try inTransaction {
                result = try updates(self)
                return .commit
            }
        } catch {
            try? inTransaction(.deferred) { .rollback }  // which waits for no lock
            throw error
        }
        guard let result else { throw CancellationError() }  // not reached: a transaction sets it, or throws
        return result
    }
}
#endif
