// SPDX-License-Identifier: Apache-2.0
#if Store
/// Whether the data stored for a key is still good enough.
public enum StoreValidity: Sendable, Hashable {
    /// It is no older than asked for.
    case valid(age: Duration)
    /// A sync of it is under way, at this stage.
    case refreshing(SyncStage)
    /// It is older than asked for; nil when its age is unknown, because the clock was set back.
    case stale(age: Duration?)
    /// It was never synced, or not since it was cleared or a migration ran; or the data fetched last was outdated when
    /// it was written.
    case missing
}
#endif
