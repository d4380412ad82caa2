// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import SystemPackage
import TestSupport
import Testing
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// The file of a database, which tests make, open and have refused.
struct DatabaseFile {
    let directory: TemporaryDirectory
    var path: FilePath { directory.path.appending("db") }

    init() throws { directory = try TemporaryDirectory() }

    func open(_ migrator: DatabaseMigrator = Lists.migrator) async throws(StoreError) -> Store {
        try await Store.open(
            path, migrator: migrator, performer: StubNetworkOperationPerformer(), busyTimeout: .milliseconds(200))
    }

    /// A database with something in it, closed, and all in the one file.
    func make(_ migrator: DatabaseMigrator = Lists.migrator) async throws {
        let store = try await open(migrator)
        try await store.write((0..<500).map { "word \($0)" })
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try store.database.close()
    }

    func expectRefusal(
        _ code: StoreError.Code, _ migrator: DatabaseMigrator = Lists.migrator,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try TemporaryDirectory.read(path)
        do {
            _ = try await open(migrator)
            Issue.record("it was opened", sourceLocation: location)
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: location)
            #expect(error.message.contains("\(path)"), sourceLocation: location)
        }
        #expect(try TemporaryDirectory.read(path) == before, sourceLocation: location)
    }
}
#endif
