// SPDX-License-Identifier: Apache-2.0

/// Whose turn it is: first in, first out, and no more than so many at once.
package struct TransferQueue: Sendable {
    private let maximumRunning: Int
    private let maximumWaiting: Int
    private var waiting: [UInt64] = []
    private var first = 0
    private var gone: Set<UInt64> = []
    private var running: Set<UInt64> = []

    package init(maximumRunning: Int, maximumWaiting: Int) {
        self.maximumRunning = maximumRunning
        self.maximumWaiting = maximumWaiting
    }

    /// Takes a transfer in; false when too many wait.
    package mutating func add(_ id: UInt64) -> Bool {
        let mustWait = running.count >= maximumRunning || first < waiting.count
        guard !mustWait || waiting.count - first - gone.count < maximumWaiting else { return false }
        waiting.append(id)
        return true
    }

    /// The next transfer that may run, if there is one. It runs until it is removed.
    package mutating func next() -> UInt64? {
        while running.count < maximumRunning, first < waiting.count {
            let id = waiting[first]
            first += 1
            if first > 1024, first * 2 > waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            guard gone.remove(id) == nil else { continue }
            running.insert(id)
            return id
        }
        return nil
    }

    /// Lets a transfer go, wherever it is. Call it once for each that was added.
    package mutating func remove(_ id: UInt64) {
        if running.remove(id) == nil { gone.insert(id) }
    }
}
