// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// A subscription to changes, which ends when it is released.
final class OutboxListening: Sendable {
    private let outbox: Outbox
    private let id: UInt64

    init(_ outbox: Outbox, _ id: UInt64) { (self.outbox, self.id) = (outbox, id) }

    deinit { outbox.core.withLock { $0.ignore(id) } }
}
#endif
