// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation

/// Where a value comes from: the sync after which the database was in the state that the value shows.
public struct StoreOrigin: Sendable, Hashable {
    /// The number of the key's last sync (or clearing) that the value may show; it only goes up. Zero: none so far.
    public let number: Int64
    /// When that sync was, on the wall clock; nil when nothing was synced, or not since the last clearing or migration.
    public let syncedAt: Date?
    /// How long ago that was when the value was read; also nil when the clock has been set back since.
    public let age: Duration?
    /// Whether a sync that this stream asked for has not ended yet; another element will report its end. False as soon
    /// as the key has been synced since, also if another process did that and this stream's own sync goes on.
    public let isRefreshing: Bool

    init(_ record: SyncRecord?, now: Date, isRefreshing: Bool) {
        number = record?.number ?? 0
        syncedAt = record?.succeededAt.map { Date(timeIntervalSince1970: $0) }
        age = SyncAge.of(record, now: now)
        self.isRefreshing = isRefreshing
    }
}
#endif
