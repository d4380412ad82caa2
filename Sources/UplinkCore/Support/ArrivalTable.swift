// SPDX-License-Identifier: Apache-2.0

/// A collection of elements in order of arrival, found by id. Adding, finding and removing take constant time. An id is
/// not used again for the next 2³² elements.
///
/// Places are reused and are kept in pages, so growing copies nothing and wastes less than a page. When the last
/// element leaves, all pages but one are freed. A place doubles as the slot of a ``DeadlineHeap``.
package struct ArrivalTable<Element> {
    /// Identifies one element, even after it has left.
    package struct ID: Sendable, Hashable {
        package let slot: UInt32
        /// The element's number, which tells it apart from earlier and later holders of the place.
        fileprivate let serial: UInt32
    }

    fileprivate struct Place {
        var element: Element?
        var serial: UInt32 = 0
        var previous = noSlot
        var next = noSlot
    }

    private static var pageSize: Int { 1024 }

    private var pages: [[Place]] = []
    /// How many places have been used since the table was last empty.
    private var used: UInt32 = 0
    private var free: [UInt32] = []
    private var first = noSlot
    private var last = noSlot
    private var serial: UInt32 = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) -> ID {
        let slot = free.popLast() ?? makePlace()
        serial &+= 1
        self[place: slot] = Place(element: element, serial: serial, previous: last)
        if last == noSlot { first = slot } else { self[place: last].next = slot }
        last = slot
        count += 1
        return ID(slot: slot, serial: serial)
    }

    /// The element of an id, or nil if it has left. It can be changed in place, but not set to nil.
    package subscript(id: ID) -> Element? {
        get { holds(id) ? self[place: id.slot].element : nil }
        _modify {
            precondition(holds(id), "the element has left")
            yield &self[place: id.slot].element
        }
    }

    /// The id of the element that holds a slot now.
    package func id(inSlot slot: UInt32) -> ID { ID(slot: slot, serial: self[place: slot].serial) }

    /// Removes an element, wherever it is.
    @discardableResult
    package mutating func remove(_ id: ID) -> Element? {
        guard holds(id), let element = self[place: id.slot].element else { return nil }
        let (previous, next) = (self[place: id.slot].previous, self[place: id.slot].next)
        if previous == noSlot { first = next } else { self[place: previous].next = next }
        if next == noSlot { last = previous } else { self[place: next].previous = previous }
        self[place: id.slot] = Place()
        free.append(id.slot)
        count -= 1
        if count == 0 { reset() }
        return element
    }

    /// The ids in order of arrival.
    package var ids: [ID] {
        var ids: [ID] = []
        ids.reserveCapacity(count)
        var slot = first
        while slot != noSlot {
            ids.append(id(inSlot: slot))
            slot = self[place: slot].next
        }
        return ids
    }

    private func holds(_ id: ID) -> Bool { id.slot < used && self[place: id.slot].serial == id.serial }

    private subscript(place slot: UInt32) -> Place {
        get { pages[Int(slot) / Self.pageSize][Int(slot) % Self.pageSize] }
        _modify { yield &pages[Int(slot) / Self.pageSize][Int(slot) % Self.pageSize] }
    }

    private mutating func makePlace() -> UInt32 {
        let slot = used
        let page = Int(slot) / Self.pageSize
        if page == pages.count {
            pages.append([])
            if page > 0 { pages[page].reserveCapacity(Self.pageSize) }
        }
        if pages[page].count == Int(slot) % Self.pageSize { pages[page].append(Place()) }
        used += 1
        return slot
    }

    /// Frees the memory of earlier, larger contents.
    private mutating func reset() {
        guard pages.count > 1 else { return }
        pages.removeLast(pages.count - 1)
        free = []
        used = 0
    }
}

/// Marks a missing slot; a table cannot grow this far.
private let noSlot = UInt32.max

extension ArrivalTable: Sendable where Element: Sendable {}
extension ArrivalTable.Place: Sendable where Element: Sendable {}
