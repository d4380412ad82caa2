// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation

/// What a stream shows first, and whether it syncs.
public enum StoreRequest: Sendable, Hashable {
    /// The stored data, immediately; then what a sync brings.
    case storedThenRefreshed
    /// Only the stored data; no sync.
    case storedOnly
    /// Only data synced after the subscription began, and every later change. If the last sync is more recent than
    /// ``StoreSync/minimumInterval``, the stored data counts as fresh and no sync is made; `force` makes one.
    case freshOnly
    /// As ``freshOnly``; if the sync fails, the error and then the stored data.
    case freshOrStored
    /// The stored data, and no sync, if the last sync is no older than this; otherwise as ``freshOnly``.
    ///
    /// After a migration, which may have emptied what is stored, stored data counts as never synced: nothing is shown
    /// until the next sync, not even offline. ``storedThenRefreshed`` and ``freshOrStored`` do show it then.
    case storedUnlessOlder(than: Duration)
}

/// What a request amounts to, given what is known about the key: pure.
struct RequestPlan: Equatable {
    /// Whether to show the stored data before a sync.
    var showsStored: Bool
    /// Whether to start a sync.
    var syncs: Bool

    /// - Parameters:
    ///   - age: How long ago the last sync was; nil when there was none, or that is not known.
    ///   - minimumInterval: For how long after a sync the data counts as fresh; nil when there is no sync to make.
    init(_ request: StoreRequest, age: Duration?, minimumInterval: Duration?, force: Bool) {
        guard let minimumInterval else {
            (showsStored, syncs) = (true, false)
            return
        }
        let isFresh = !force && age.map { $0 < minimumInterval } ?? false
        (showsStored, syncs) =
            switch request {
            case .storedThenRefreshed: (true, !isFresh)
            case .storedOnly: (true, false)
            case .freshOnly, .freshOrStored: (isFresh, !isFresh)
            case .storedUnlessOlder(let maximum):
                if !force, let age, age <= maximum { (true, false) } else { (isFresh, !isFresh) }
            }
    }
}
#endif
