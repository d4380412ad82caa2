// SPDX-License-Identifier: Apache-2.0

/// Elements in order of arrival, found by ids that are never used again; adding, finding and removing take constant time.
///
/// Places are used again, so that the table stays as small as its fullest moment; a serial number tells an id from the
/// place's earlier holders. The place doubles as the slot of a ``DeadlineHeap``.
package struct ArrivalTable<Element> {
    /// Stands for one element, also after it has left.
    package struct ID: Sendable, Hashable {
        package let slot: UInt32
        fileprivate let serial: UInt32
    }

    fileprivate struct Place {
        var element: Element?
        var serial: UInt32 = 0
        var previous: UInt32?
        var next: UInt32?
    }

    private var places: [Place] = []
    private var free: [UInt32] = []
    private var first: UInt32?
    private var last: UInt32?
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// Adds an element behind all others.
    package mutating func append(_ element: Element) -> ID {
        let slot = free.popLast() ?? UInt32(places.count)
        if Int(slot) == places.count { places.append(Place()) }
        places[Int(slot)].element = element
        places[Int(slot)].previous = last
        places[Int(slot)].next = nil
        if let last { places[Int(last)].next = slot } else { first = slot }
        last = slot
        count += 1
        return ID(slot: slot, serial: places[Int(slot)].serial)
    }

    /// The element of an id, or nil when it has left. Can be changed in place; not set to nil.
    package subscript(id: ID) -> Element? {
        get { places[Int(id.slot)].serial == id.serial ? places[Int(id.slot)].element : nil }
        _modify {
            precondition(places[Int(id.slot)].serial == id.serial, "the element has left")
            yield &places[Int(id.slot)].element
        }
    }

    /// The id of the element that holds a slot now.
    package func id(inSlot slot: UInt32) -> ID { ID(slot: slot, serial: places[Int(slot)].serial) }

    /// Takes an element out, wherever it stands.
    @discardableResult
    package mutating func remove(_ id: ID) -> Element? {
        let slot = Int(id.slot)
        guard places[slot].serial == id.serial, let element = places[slot].element else { return nil }
        let (previous, next) = (places[slot].previous, places[slot].next)
        if let previous { places[Int(previous)].next = next } else { first = next }
        if let next { places[Int(next)].previous = previous } else { last = previous }
        places[slot] = Place(serial: places[slot].serial &+ 1)
        free.append(id.slot)
        count -= 1
        return element
    }

    /// The ids in order of arrival.
    package var ids: [ID] {
        var ids: [ID] = []
        ids.reserveCapacity(count)
        var slot = first
        while let here = slot {
            ids.append(id(inSlot: here))
            slot = places[Int(here)].next
        }
        return ids
    }
}

extension ArrivalTable: Sendable where Element: Sendable {}
extension ArrivalTable.Place: Sendable where Element: Sendable {}
