// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB

/// The store's own tables, beside the user's.
enum StoreSchema {
    /// A prefix that the names of the user's migrations must not have.
    static let prefix = "uplink-store-"

    /// The user's migrations and ours, in one table of applied migrations, so that a file with any others is known to
    /// be newer.
    static func migrator(_ users: DatabaseMigrator) throws(StoreError) -> DatabaseMigrator {
        if let name = users.migrations.first(where: { $0.hasPrefix(prefix) }) {
            throw StoreError(
                .invalidArgument, message: "the migration `\(name)` has a name that is the store's own; rename it")
        }
        var migrator = users
        migrator.eraseDatabaseOnSchemaChange = false  // would erase what the user did offline
        migrator.registerMigration("\(prefix)1", foreignKeyChecks: .immediate) { db in
            try db.create(table: SyncRecord.databaseTableName) { table in
                table.primaryKey("id", .integer)
                table.column("key", .text).notNull()
                table.column("number", .integer).notNull()
                table.column("epoch", .integer).notNull()
                table.column("succeededAt", .double)
                table.column("url", .text)
                table.column("etag", .text)
                table.column("lastModified", .text)
            }
            try db.create(table: "uplink_outbox") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("outbox", .text).notNull()
                table.column("key", .text).notNull()
                table.column("kind", .text).notNull()
                table.column("payload", .blob).notNull()
                table.column("bytes", .integer).notNull()
                table.column("idempotencyKey", .text).notNull()
                table.column("createdAt", .double).notNull()
                table.column("attempts", .integer).notNull()
                table.column("lastError", .text)
                table.column("failedAt", .double)
                table.column("pause", .double)
                table.column("isFailed", .boolean).notNull()
            }
            try db.create(
                index: "uplink_outbox_heads", on: "uplink_outbox",
                columns: ["outbox", "isFailed", "key", "id"])
            try db.create(
                index: "uplink_outbox_totals", on: "uplink_outbox", columns: ["outbox", "isFailed", "bytes"])
        }
        migrator.registerMigration("\(prefix)2", foreignKeyChecks: .immediate) { db in
            try db.drop(index: "uplink_outbox_totals")
            try db.execute(sql: outboxTotals)
        }
        migrator.registerMigration("\(prefix)3", foreignKeyChecks: .immediate) { db in
            try db.alter(table: SyncRecord.databaseTableName) { $0.add(column: "answeredBy", .text) }
        }
        return migrator
    }

    /// Keeps count of how much each outbox holds: SQLite updates it with each entry, in the entry's transaction,
    /// whoever changes it. Each new entry needs the count, and counting all entries would cost more the more there are.
    private static let outboxTotals = """
        CREATE TABLE uplink_outbox_totals (
            outbox TEXT NOT NULL PRIMARY KEY, pending INTEGER NOT NULL, failed INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO uplink_outbox_totals
            SELECT outbox, SUM(NOT isFailed), SUM(isFailed), SUM(bytes) FROM uplink_outbox GROUP BY outbox;
        CREATE TRIGGER uplink_outbox_added AFTER INSERT ON uplink_outbox BEGIN
            INSERT OR IGNORE INTO uplink_outbox_totals VALUES (NEW.outbox, 0, 0, 0);
            UPDATE uplink_outbox_totals
                SET pending = pending + NOT NEW.isFailed, failed = failed + NEW.isFailed, bytes = bytes + NEW.bytes
                WHERE outbox = NEW.outbox;
        END;
        CREATE TRIGGER uplink_outbox_removed AFTER DELETE ON uplink_outbox BEGIN
            UPDATE uplink_outbox_totals
                SET pending = pending - NOT OLD.isFailed, failed = failed - OLD.isFailed, bytes = bytes - OLD.bytes
                WHERE outbox = OLD.outbox;
        END;
        CREATE TRIGGER uplink_outbox_changed AFTER UPDATE OF isFailed ON uplink_outbox
            WHEN NEW.isFailed <> OLD.isFailed
        BEGIN
            UPDATE uplink_outbox_totals
                SET pending = pending + OLD.isFailed - NEW.isFailed, failed = failed + NEW.isFailed - OLD.isFailed
                WHERE outbox = NEW.outbox;
        END;
        """
}
#endif
