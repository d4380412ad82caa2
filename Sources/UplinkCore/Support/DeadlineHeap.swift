// SPDX-License-Identifier: Apache-2.0

/// A 4-ary min-heap of deadlines, each of which can be removed by the slot it was added with.
///
/// An entry takes sixteen bytes and its place four: a million sleepers fit into 20 MB, and one timer serves them all.
/// Slots are small integers that the owner hands out and reuses; a slot is in the heap at most once at any time.
package struct DeadlineHeap: Sendable {
    /// A deadline and the slot it belongs to.
    package struct Entry: Sendable, Equatable {
        /// Nanoseconds on the owner's clock.
        package var deadline: Int64
        /// The owner's small integer for the waiting element.
        package var slot: UInt32
    }

    private static let absent = UInt32.max
    /// The number of places whose memory an empty heap keeps.
    private static let keptPlaces = 1024
    private var entries: [Entry] = []
    private var places: [UInt32] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }

    /// The entry that is due first.
    package var first: Entry? { entries.first }

    /// Adds a deadline for a slot that is not in the heap.
    package mutating func insert(deadline: Int64, slot: UInt32) {
        while places.count <= Int(slot) { places.append(Self.absent) }
        precondition(places[Int(slot)] == Self.absent, "slot \(slot) has a deadline already")
        entries.append(Entry(deadline: deadline, slot: slot))
        places[Int(slot)] = UInt32(entries.count - 1)
        let place = entries.count - 1
        withHeap { $0.siftUp(from: place) }
    }

    /// Removes a slot's deadline and returns whether there was one.
    @discardableResult
    package mutating func remove(slot: UInt32) -> Bool {
        guard Int(slot) < places.count, places[Int(slot)] != Self.absent else { return false }
        let place = Int(places[Int(slot)])
        places[Int(slot)] = Self.absent
        let last = entries.removeLast()
        if entries.isEmpty, places.count > Self.keptPlaces {
            (entries, places) = ([], [])
        } else if place < entries.count {
            entries[place] = last
            places[Int(last.slot)] = UInt32(place)
            withHeap {
                $0.siftUp(from: place)
                $0.siftDown(from: place)
            }
        }
        return true
    }

    /// Removes and returns the first entry if it is due at `now`.
    package mutating func popDue(at now: Int64) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(slot: first.slot)
        return first
    }

    /// Lets `body` move entries without a check of each index: with a million timers, these checks are most of the
    /// cost.
    private mutating func withHeap(_ body: (Unchecked) -> Void) {
        entries.withUnsafeMutableBufferPointer { entries in
            places.withUnsafeMutableBufferPointer { places in
                guard let first = entries.baseAddress, let firstPlace = places.baseAddress else { return }
                body(Unchecked(entries: first, count: entries.count, places: firstPlace))
            }
        }
    }

    /// The heap's memory. Every place below is less than `count`, and every entry's slot has a place.
    private struct Unchecked {
        let entries: UnsafeMutablePointer<Entry>
        let count: Int
        let places: UnsafeMutablePointer<UInt32>

        func siftUp(from start: Int) {
            var place = start
            let entry = entries[place]
            while place > 0 {
                let parent = (place &- 1) / 4
                guard entry.deadline < entries[parent].deadline else { break }
                put(entries[parent], at: place)
                place = parent
            }
            put(entry, at: place)
        }

        func siftDown(from start: Int) {
            var place = start
            let entry = entries[place]
            while true {
                var least = 4 &* place &+ 1
                guard least < count else { break }
                let end = min(least &+ 4, count)
                var child = least &+ 1
                while child < end {
                    if entries[child].deadline < entries[least].deadline { least = child }
                    child &+= 1
                }
                guard entries[least].deadline < entry.deadline else { break }
                put(entries[least], at: place)
                place = least
            }
            put(entry, at: place)
        }

        private func put(_ entry: Entry, at place: Int) {
            entries[place] = entry
            places[Int(entry.slot)] = UInt32(truncatingIfNeeded: place)
        }
    }
}
