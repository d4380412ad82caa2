// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// How many more bytes the server may hold in memory, in files and in uploads that are under way.
final class MemoryBudget: Sendable {
    private let free: Locked<Int>

    init(_ limit: Int) { free = Locked(limit) }

    /// - Throws: ``ServiceError/full`` when there are not as many left.
    func take(_ count: Int) throws(ServiceError) {
        let isTaken = free.withLock { free in
            guard count <= free else { return false }
            free -= count
            return true
        }
        guard isTaken else { throw .full }
    }

    func give(_ count: Int) { free.withLock { $0 += count } }
}
