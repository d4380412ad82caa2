// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// The engine's transfers, by id and by slot: a small number that is reused for another transfer.
struct TransferTable {
    /// How many slots an empty table keeps.
    private static let keptSlots = 1024
    private var slots: [CurlTransfer?] = []
    private var freeSlots: [UInt32] = []
    private var slotsByID = IDTable()

    var count: Int { slotsByID.count }
    var isEmpty: Bool { count == 0 }

    /// All transfers.
    var values: some Collection<CurlTransfer> { slots.lazy.compactMap(\.self) }

    /// The transfer with this id; nil when it has ended.
    subscript(id: UInt64) -> CurlTransfer? { slotsByID[id].flatMap { slots[Int($0)] } }

    subscript(slot slot: UInt32) -> CurlTransfer? { slots[Int(slot)] }

    /// The slot of the next transfer that is added.
    var nextSlot: UInt32 { freeSlots.last ?? UInt32(slots.count) }

    /// Adds a transfer, which was created for the next slot.
    mutating func add(_ transfer: CurlTransfer) {
        if freeSlots.popLast() == nil { slots.append(transfer) } else { slots[Int(transfer.slot)] = transfer }
        slotsByID[transfer.id] = transfer.slot
    }

    mutating func remove(_ id: UInt64) {
        guard let slot = slotsByID.remove(id) else { return }
        if isEmpty, slots.count > Self.keptSlots {  // going through all transfers means going through empty slots, too
            self = Self()
        } else {
            slots[Int(slot)] = nil
            freeSlots.append(slot)
        }
    }
}
