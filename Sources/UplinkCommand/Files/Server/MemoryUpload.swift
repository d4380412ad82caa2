// SPDX-License-Identifier: Apache-2.0
import Foundation
import UplinkCore

/// The bytes of an upload to a server that keeps its files in memory.
final class MemoryUpload: Sendable {
    private let budget: MemoryBudget
    private let bytes = Locked(Data())

    init(within budget: MemoryBudget) { self.budget = budget }

    var size: Int { bytes.withLock(\.count) }

    /// - Throws: ``ServiceError/full`` when there is no room for them.
    func write(_ more: Data) throws(ServiceError) {
        try budget.take(more.count)
        bytes.withLock { $0.append(more) }
    }

    /// The bytes, which still count for the budget.
    func take() -> Data {
        bytes.withLock { bytes in
            defer { bytes = Data() }
            return bytes
        }
    }

    /// Gives the room of bytes that nobody has taken to others.
    func end() { budget.give(take().count) }
}
