// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Elements that wait for deadlines under one timer: the entire state of ``LoopTimers``, and the core of
/// ``SleeperTable``.
///
/// An element has a place, which is reused after it, and a serial number, which is not. So the table never grows beyond
/// its largest number of elements, and an id never refers to another element. An empty table frees its memory.
struct DeadlineTable<Element> {
    /// Identifies one element, even after it has left.
    struct ID: Sendable, Hashable {
        let slot: UInt32
        let serial: UInt64
    }

    private struct Place {
        /// Nil if nobody holds the place.
        var element: Element?
        /// The number of the current holder of the place, or of the last one.
        var serial: UInt64
    }

    /// The number of places whose memory an empty table keeps.
    private static var keptPlaces: Int { 1024 }

    private var places: [Place] = []
    private var freeSlots: [UInt32] = []
    private var deadlines = DeadlineHeap()
    /// The number of elements there have ever been.
    private var serial: UInt64 = 0
    /// The time that the timer is set to, or will be when its owner gets to it. Never later than the first deadline;
    /// earlier if that deadline was removed, because a wasted turn is cheaper than setting the timer each time.
    private var alarm = Int64.max

    /// The number of elements, with and without a deadline.
    var count: Int { places.count - freeSlots.count }

    /// The number of places that there is memory for.
    var capacity: Int { max(places.capacity, freeSlots.capacity) }

    /// Adds an element that has no deadline yet.
    mutating func add(_ element: Element) -> ID {
        serial += 1
        if let slot = freeSlots.popLast() {
            places[Int(slot)] = Place(element: element, serial: serial)
            return ID(slot: slot, serial: serial)
        }
        places.append(Place(element: element, serial: serial))
        return ID(slot: UInt32(places.count - 1), serial: serial)
    }

    /// Gives an element its one deadline. Returns true if the timer must be set, with ``alarmToSet()``.
    mutating func schedule(_ id: ID, at deadline: Int64) -> Bool {
        let deadline = min(deadline, .max - 1)  // .max sets no alarm: a waiter would not learn of the end
        deadlines.insert(deadline: deadline, slot: id.slot)
        guard deadline < alarm else { return false }
        alarm = deadline
        return true
    }

    /// The element of an id, or nil if it has left. It can be changed in place while it is there.
    subscript(id: ID) -> Element? {
        get { holds(id) ? places[Int(id.slot)].element : nil }
        _modify {
            precondition(holds(id), "the element has left")
            yield &places[Int(id.slot)].element
        }
    }

    /// Removes an element and its deadline.
    mutating func remove(_ id: ID) -> Element? {
        guard holds(id), let element = places[Int(id.slot)].element.take() else { return nil }
        deadlines.remove(slot: id.slot)
        free(id.slot)
        return element
    }

    /// Removes and returns the element with the first deadline, if that has passed.
    mutating func popDue(at now: Int64) -> (id: ID, element: Element)? {
        guard let slot = deadlines.popDue(at: now)?.slot, let element = places[Int(slot)].element.take() else {
            return nil
        }
        let id = ID(slot: slot, serial: places[Int(slot)].serial)
        free(slot)
        return (id, element)
    }

    /// Returns the time to set the timer to, if there is a deadline.
    mutating func alarmToSet() -> Int64? {
        alarm = deadlines.first?.deadline ?? .max
        return deadlines.first?.deadline
    }

    private func holds(_ id: ID) -> Bool { Int(id.slot) < places.count && places[Int(id.slot)].serial == id.serial }

    private mutating func free(_ slot: UInt32) {
        freeSlots.append(slot)
        guard freeSlots.count == places.count, places.count > Self.keptPlaces else { return }
        (places, freeSlots, deadlines) = ([], [], DeadlineHeap())
    }
}
