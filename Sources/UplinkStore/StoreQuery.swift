// SPDX-License-Identifier: Apache-2.0
#if Store
public import GRDB

/// A query of the database whose result is observed.
///
/// ```swift
/// let notes = StoreQuery("notes") { db in try Note.order(Column("text")).fetchAll(db) }
/// ```
///
/// The answer is fetched again after each transaction that changed a row or column that the fetch read, and shown only
/// if it differs. GRDB does not see direct changes of `WITHOUT ROWID` tables nor, for a query of single rows by their
/// numbers, rows that `ON CONFLICT REPLACE` displaces: call `db.notifyChanges(in:)` in the transaction that makes them.
public struct StoreQuery<Value: Equatable & Sendable>: Sendable {
    /// The query's name in messages.
    public let name: String
    let fetch: @Sendable (Database) throws -> Value

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - name: Its name in messages.
    ///   - fetch: Reads the database, on one of GRDB's threads; called again after changes. It must not write.
    public init(_ name: String, fetch: @escaping @Sendable (Database) throws -> Value) {
        self.name = name
        self.fetch = fetch
    }
}
#endif
