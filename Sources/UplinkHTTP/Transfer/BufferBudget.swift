// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts the bytes that all bodies of a transport hold for readers slower than the network. May be used from any
/// thread.
package final class BufferBudget: Sendable {
    private let limit: Int
    private let held = Atomic(0)

    package init(limit: Int) { self.limit = limit }

    /// The bytes held now.
    package var bytes: Int { held.load(ordering: .relaxed) }

    /// Whether bodies may hold no more than one piece each.
    package var isSpent: Bool { bytes >= limit }

    func add(_ change: Int) {
        if change != 0 { held.add(change, ordering: .relaxed) }
    }
}
