// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkStore

/// A database whose last transaction was interrupted: its journal has to be played back before anyone can read
/// (sqlite.org/lockingv3.html).
@Suite(.timeLimit(.minutes(1)))
struct HotJournalTests {
    private let directory: TemporaryDirectory
    private var path: FilePath { directory.path.appending("db") }

    init() throws { directory = try TemporaryDirectory() }

    /// Copies a database in the middle of a transaction that is larger than the cache.
    private func interrupt(after prepare: (DatabaseQueue) throws -> Void) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 5") }
        let database = try DatabaseQueue(
            path: directory.path.appending("original").string, configuration: configuration)
        try prepare(database)
        try database.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE filler (text);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                    INSERT INTO filler SELECT 'old' || hex(zeroblob(250)) FROM n
                    """)
            try db.beginTransaction(.immediate)
            try db.execute(sql: "UPDATE filler SET text = 'new' || text")
            for suffix in ["", "-journal"] {
                try directory.write("db\(suffix)", try directory.read("original\(suffix)"))
            }
            try db.rollback()
        }
        try database.close()
    }

    /// How many rows are as the interrupted transaction would have made them.
    private func changedRows() throws -> Int? {
        try DatabaseQueue(path: path.string).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM filler WHERE text LIKE 'new%'")
        }
    }

    @Test(arguments: [true, false])
    func whatIsRefusedKeepsItsJournalsMode(isNewer: Bool) async throws {
        defer { directory.remove() }
        try interrupt { database in
            guard isNewer else { return }
            var newer = Lists.migrator
            newer.registerMigration("of the next version") { try $0.execute(sql: "CREATE TABLE more (x)") }
            try newer.migrate(database)
        }
        let error = await #expect(throws: StoreError.self) {
            try await Store.open(path, migrator: Lists.migrator, performer: StubNetworkOperationPerformer())
        }
        #expect(error?.code == (isNewer ? .newerSchema : .notADatabase))
        #expect(try directory.read("db")[18...19] == [1, 1])  // a rollback journal (sqlite.org/fileformat2.html)
        #expect(directory.names.filter { $0.hasPrefix("db") } == ["db"])
        #expect(try changedRows() == 0)
    }

    @Test func aDatabaseOfOursIsOpenedWithoutWhatWasInterrupted() async throws {
        defer { directory.remove() }
        try interrupt { try Lists.migrator.migrate($0) }
        let store = try await Store.open(path, migrator: Lists.migrator, performer: StubNetworkOperationPerformer())
        #expect(try await store.words() == [])
        try store.database.close()
        #expect(try changedRows() == 0)
    }
}
#endif
