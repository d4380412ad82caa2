// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation

/// How long ago a sync was, by a wall clock that may be set.
enum SyncAge {
    /// Nil when nothing was synced, and when the sync seems to lie in the future: nobody knows its age then, and what
    /// asks whether it is recent is told no.
    static func of(_ record: SyncRecord?, now: Date) -> Duration? {
        guard let succeededAt = record?.succeededAt else { return nil }
        let seconds = now.timeIntervalSince1970 - succeededAt
        return seconds >= 0 ? .limited(seconds: seconds) : nil
    }
}

/// Whether what is stored for a key is still good enough.
public enum StoreValidity: Sendable, Hashable {
    /// It is no older than asked.
    case valid(age: Duration)
    /// A sync of it is under way, and this far.
    case refreshing(SyncStage)
    /// It is older than asked; nil when its age cannot be told, because the clock was set back.
    case stale(age: Duration?)
    /// It was never synced, or not since it was cleared or a migration ran; or what was fetched last was outdated when it
    /// was written.
    case missing
}

extension Store {
    /// Whether what is stored for a key is recent enough, or is being refreshed.
    ///
    /// - Parameters:
    ///   - sync: Whose key is asked about.
    ///   - maximumAge: The age up to which it is valid.
    /// - Throws: ``StoreError``.
    public func validity(of sync: StoreSync, maximumAge: Duration) async throws -> StoreValidity {
        let record = try await record(of: sync.key)
        let age = SyncAge.of(record, now: now())
        if let age, age <= maximumAge { return .valid(age: age) }
        if let stage = flights.stage(of: sync.key) { return .refreshing(stage) }
        return record.succeededAt == nil ? .missing : .stale(age: age)
    }
}
#endif
