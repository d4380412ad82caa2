// SPDX-License-Identifier: Apache-2.0
#if Store
public import GRDB

/// A question to the database, whose answer is observed.
///
/// ```swift
/// let notes = StoreQuery("notes") { db in try Note.order(Column("text")).fetchAll(db) }
/// ```
///
/// The answer is fetched again after each transaction that changed a row or column that the fetch has read; only an
/// answer that differs is shown. GRDB does not see direct changes of `WITHOUT ROWID` tables nor, for a query of single rows
/// by their numbers, rows that `ON CONFLICT REPLACE` displaces: call `db.notifyChanges(in:)` in the transaction that makes
/// them.
public struct StoreQuery<Value: Equatable & Sendable>: Sendable {
    /// What messages call the query.
    public let name: String
    let fetch: @Sendable (Database) throws -> Value

    /// Makes a query.
    ///
    /// - Parameters:
    ///   - name: What messages call it.
    ///   - fetch: Reads the database, on a thread of GRDB's; called again after changes. It must not write.
    public init(_ name: String, fetch: @escaping @Sendable (Database) throws -> Value) {
        self.name = name
        self.fetch = fetch
    }
}
#endif
