// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Elements that wait for deadlines under one timer: all of ``LoopTimers``'s state, and the heart of ``SleeperTable``.
///
/// An element has a place, which is used again after it, and a serial number, which is not: so the table stays as small
/// as its fullest moment, and an id never means somebody else. Empty, it gives its memory back.
struct DeadlineTable<Element> {
    /// Stands for one element, also after it has left.
    struct ID: Sendable, Hashable {
        let slot: UInt32
        let serial: UInt64
    }

    private struct Place {
        /// Nil: nobody holds the place.
        var element: Element?
        /// The number of the one who holds the place, or held it last.
        var serial: UInt64
    }

    /// An empty table keeps the memory of so many places.
    private static var keptPlaces: Int { 1024 }

    private var places: [Place] = []
    private var freeSlots: [UInt32] = []
    private var deadlines = DeadlineHeap()
    /// How many elements there ever were.
    private var serial: UInt64 = 0
    /// What the timer is set to, or will be when its owner comes to it. No later than the first deadline; earlier when
    /// that one was removed, because a turn for nothing is cheaper than setting the timer each time.
    private var alarm = Int64.max

    /// How many elements there are, with and without a deadline.
    var count: Int { places.count - freeSlots.count }

    /// For how many places there is memory.
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

    /// Gives an element its one deadline. True: the timer must be set, by ``alarmToSet()``.
    mutating func schedule(_ id: ID, at deadline: Int64) -> Bool {
        let deadline = min(deadline, .max - 1)  // later is no alarm, and who waits without one never hears of the end
        deadlines.insert(deadline: deadline, slot: id.slot)
        guard deadline < alarm else { return false }
        alarm = deadline
        return true
    }

    /// The element of an id, or nil when it has left. Can be changed in place while it is there.
    subscript(id: ID) -> Element? {
        get { holds(id) ? places[Int(id.slot)].element : nil }
        _modify {
            precondition(holds(id), "the element has left")
            yield &places[Int(id.slot)].element
        }
    }

    /// Takes an element out, and its deadline with it.
    mutating func remove(_ id: ID) -> Element? {
        guard holds(id), let element = places[Int(id.slot)].element.take() else { return nil }
        deadlines.remove(slot: id.slot)
        free(id.slot)
        return element
    }

    /// Takes out the element whose deadline is the first, if that has passed.
    mutating func popDue(at now: Int64) -> (id: ID, element: Element)? {
        guard let slot = deadlines.popDue(at: now)?.slot, let element = places[Int(slot)].element.take() else {
            return nil
        }
        let id = ID(slot: slot, serial: places[Int(slot)].serial)
        free(slot)
        return (id, element)
    }

    /// What the timer is to be set to now, if anybody has a deadline.
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
