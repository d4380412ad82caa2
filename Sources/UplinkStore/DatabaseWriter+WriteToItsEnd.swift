// SPDX-License-Identifier: Apache-2.0
#if Store
package import GRDB

extension DatabaseWriter {
    /// Writes in one transaction, and makes sure that what is to be done after it learns how it ended.
    ///
    /// If a commit fails because the disk is full, SQLite rolls back by itself. GRDB (7.10) does not report that to the
    /// handlers of `afterNextTransaction`, which would take the next transaction's commit for that of their own. An
    /// empty transaction that is rolled back in between ends them.
    package func writeToItsEnd<T: Sendable>(_ updates: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await writeWithoutTransaction { db in
            var result: T?
            do {
                try db.inTransaction {
                    result = try updates(db)
                    return .commit
                }
            } catch {
                try? db.inTransaction(.deferred) { .rollback }  // which waits for no lock
                throw error
            }
            guard let result else { throw CancellationError() }  // not reached: a transaction sets it, or throws
            return result
        }
    }
}
#endif
