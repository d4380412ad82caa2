// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
public import GRDB
public import UplinkCore
public import UplinkStore
public import UplinkTesting

extension Store {
    /// Creates a store in memory whose network is there, or is as a stand-in for the performer says.
    ///
    /// - Throws: `StoreError` when a migration fails.
    public static func stubbed(
        migrator: DatabaseMigrator = DatabaseMigrator(),
        performer: any NetworkOperationPerforming = StubNetworkOperationPerformer(),
        clock: any Clock<Duration> = .continuous, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(StoreError) -> Store {
        try inMemory(migrator: migrator, performer: performer, clock: clock, now: now)
    }
}
#endif
