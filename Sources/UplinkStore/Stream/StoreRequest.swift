// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation

/// What a stream shows first, and whether it syncs.
public enum StoreRequest: Sendable, Hashable {
    /// What is stored, at once; then what a sync brings.
    case storedThenRefreshed
    /// What is stored; no sync.
    case storedOnly
    /// Nothing but what a sync has brought since the subscription, and all changes after it. Where the last sync was within
    /// its ``StoreSync/minimumInterval``, what is stored counts as that, and no other one is made; `force` makes one.
    case freshOnly
    /// As ``freshOnly``; if the sync fails, the error and then what is stored.
    case freshOrStored
    /// What is stored if its last sync is no older than this, and no sync then; otherwise as ``freshOnly``.
    ///
    /// Also after a migration, which may have emptied what is stored: until the next sync nothing is shown, offline
    /// neither. ``storedThenRefreshed`` and ``freshOrStored`` show it then.
    case storedUnlessOlder(than: Duration)
}

/// What a request comes to, given what is known of the key: pure.
struct RequestPlan: Equatable {
    /// Whether what is stored is shown before a sync.
    var showsStored: Bool
    /// Whether a sync is started.
    var syncs: Bool

    /// - Parameters:
    ///   - age: How long ago the last sync was; nil when there was none, or nobody knows.
    ///   - minimumInterval: For how long after a sync it counts as fresh; nil when there is no sync to be had.
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
