// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import Glibc
import SystemPackage
import Uplink
import UplinkCore
import UplinkStore

/// A network that is always there.
struct PresentNetwork: NetworkMonitor {
    private let broadcaster = NetworkPathBroadcaster(keepsPath: true)

    init() {
        let way = FamilyPath(interface: "eth0", interfaceIndex: 2)
        broadcaster.send(NetworkPath(status: .satisfied, scope: .global, ipv4: way, ipv6: way, interfaces: []))
    }

    var currentPath: NetworkPath? { broadcaster.currentPath }
    var paths: NetworkPaths { broadcaster.paths }
}

/// What the program does to see how a store is opened, and to be in its way.
enum Openings {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("victim") { db in
            try db.execute(
                sql: """
                    CREATE TABLE piece (batch INTEGER NOT NULL, number INTEGER NOT NULL, filling BLOB);
                    CREATE TABLE batch (number INTEGER PRIMARY KEY);
                    CREATE TABLE result (entry TEXT NOT NULL);
                    """)
        }
        return migrator
    }

    static func store(_ path: FilePath) async throws(StoreError) -> Store {
        try await Store.open(
            path, migrator: migrator, performer: NetworkOperationPerformer(monitor: PresentNetwork()),
            busyTimeout: .seconds(1))
    }

    /// Prints `opened`, or the code of the error.
    static func open(_ path: FilePath) async throws {
        do throws(StoreError) {
            _ = try await store(path)
            say("opened")
        } catch {
            say("\(error.code)")
        }
    }

    /// Writes one row again and again; prints how often that went well.
    static func rewrite(_ path: FilePath) async throws {
        let store = try await store(path)
        for round in 0..<200 {
            let sync = StoreSync("pieces", fetch: { round }) { db, round in
                try db.execute(
                    sql: """
                        DELETE FROM piece;
                        INSERT INTO piece (batch, number, filling) VALUES (1, \(round), zeroblob(4096));
                        """)
            }
            do { _ = try await store.sync(sync) } catch { return say("\(round): \(error)") }
            // The database has its size then.
            if round == 0 { _ = try await store.database.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
        }
        say("200")
    }

    /// Syncs until it fails; prints how many rows there were before, after, and after another look at the file.
    static func fill(_ path: FilePath) async throws {
        var store = try await store(path)
        let count: @Sendable (Database) throws -> Int = {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM piece") ?? -1
        }
        var before = 0
        while true {
            before = try await store.database.read(count)
            do {
                let sync = StoreSync("pieces", fetch: { 1 }) { db, _ in
                    for number in 0..<4 {
                        try db.execute(
                            sql: "INSERT INTO piece (batch, number, filling) VALUES (1, ?, zeroblob(4096))",
                            arguments: [number])
                    }
                }
                try await store.sync(sync)
            } catch let error as StoreError {
                say("\(error.code)")
                break
            }
        }
        let after = try await store.database.read(count)
        store = try await Self.store(path)
        say("\(before > 0) \(after == before) \(try await store.database.read(count) == before)")
    }

    /// Writes more than there is room for, then less; prints what is to be done after each of the two transactions.
    static func overfill(_ path: FilePath) async throws {
        let database = try await store(path).database
        for (number, size) in [2_000_000, 1].enumerated() {
            do {
                try await database.writeToItsEnd { db in
                    db.afterNextTransaction { _ in
                        say("\(number) committed")
                    } onRollback: { _ in
                        say("\(number) rolled back")
                    }
                    try db.execute(sql: "INSERT INTO piece (batch, number, filling) VALUES (1, 1, zeroblob(\(size)))")
                }
            } catch {
                say("\(number) failed")
            }
        }
    }

    /// Holds the database, so that nobody else writes, or reads; until it is killed.
    static func lock(_ path: FilePath, exclusively: Bool) async throws {
        let database = try DatabaseQueue(path: path.string)
        try await database.writeWithoutTransaction { db in
            if exclusively { try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO result VALUES ('held')")
            say("holding")
            while true { pause() }
        }
    }
}
#endif
