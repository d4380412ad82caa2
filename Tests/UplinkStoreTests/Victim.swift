// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import SystemPackage
import TestSupport

/// The program that is killed, and that gets in the way.
enum Victim {
    /// Its schema and that of the tests, in one file.
    static var migrator: DatabaseMigrator {
        var migrator = Lists.migrator
        migrator.registerMigration("victim") { db in
            try db.execute(sql: "CREATE TABLE result (entry TEXT NOT NULL)")
        }
        return migrator
    }

    /// Starts it.
    ///
    /// - Parameter preparation: Shell commands to run before it, in a mount namespace of its own.
    static func start(
        _ mode: String, _ path: FilePath, _ rest: String..., after preparation: String? = nil
    ) throws -> RunningProgram {
        let program = BuiltProgram.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/StoreVictim"
        let command = [program, mode, path.string] + rest
        guard let preparation else { return try RunningProgram(command) }
        return try RunningProgram(
            [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                "\(preparation) && exec \(command.joined(separator: " "))",
            ])
    }

    /// Runs it to its end.
    static func run(_ mode: String, _ path: FilePath, after preparation: String? = nil) async throws -> RunningProgram {
        let program = try start(mode, path, after: preparation)
        try await program.wait(upTo: .seconds(50))
        return program
    }
}
#endif
