// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation

/// How long ago a sync was, on a wall clock that may be set.
enum SyncAge {
    /// The age; nil when nothing was synced, and when the sync appears to lie in the future: its age is then unknown,
    /// and it does not count as recent.
    static func of(_ record: SyncRecord?, now: Date) -> Duration? {
        guard let succeededAt = record?.succeededAt else { return nil }
        let seconds = now.timeIntervalSince1970 - succeededAt
        return seconds >= 0 ? .limited(seconds: seconds) : nil
    }
}

extension Store {
    /// Returns whether the data stored for a key is recent enough, or is being refreshed.
    ///
    /// - Parameters:
    ///   - sync: The sync whose key is asked about.
    ///   - maximumAge: The age up to which it is valid.
    /// - Throws: ``StoreError``.
    public func validity(of sync: StoreSync, maximumAge: Duration) async throws -> StoreValidity {
        // First: a sync that ends meanwhile has left its record.
        let stage = syncs.stage(of: ExactKey(sync.key))
        let record = try await record(of: sync.key)
        let age = SyncAge.of(record, now: now())
        if let age, age <= maximumAge { return .valid(age: age) }
        if let stage { return .refreshing(stage) }
        return record.succeededAt == nil ? .missing : .stale(age: age)
    }
}
#endif
