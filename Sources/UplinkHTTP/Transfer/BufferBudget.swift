// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What all bodies of a transport together hold for readers who are slower than the network. Any thread.
package final class BufferBudget: Sendable {
    private let limit: Int
    private let held = Atomic(0)

    package init(limit: Int) { self.limit = limit }

    /// Bytes that are held now.
    package var bytes: Int { held.load(ordering: .relaxed) }

    /// Whether bodies are to hold no more than a piece each.
    package var isSpent: Bool { bytes >= limit }

    func add(_ change: Int) {
        if change != 0 { held.add(change, ordering: .relaxed) }
    }
}
