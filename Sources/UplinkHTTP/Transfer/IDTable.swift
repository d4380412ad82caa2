// SPDX-License-Identifier: Apache-2.0

/// A table of small numbers by ids that are given out in sequence.
///
/// Most of the cost of a `Dictionary` for such a key defends against keys chosen to collide, which cannot happen here.
/// Open addressing with linear probing (Knuth, The Art of Computer Programming, section 6.4).
package struct IDTable: Sendable {
    /// The number of places is a power of two, and at least half of them are free.
    private var places: [(id: UInt64, number: UInt32)?] = []
    /// The number of bits of a product that are not part of a place.
    private var shift: UInt64 = 0
    package private(set) var count = 0

    package init() {}

    package subscript(id: UInt64) -> UInt32? {
        get { count == 0 ? nil : places[place(of: id)]?.number }
        set {
            guard let newValue else {
                _ = remove(id)
                return
            }
            if (count + 1) * 2 > places.count { grow() }
            let place = place(of: id)
            if places[place] == nil { count += 1 }
            places[place] = (id, newValue)
        }
    }

    /// Removes an id, and moves up those that it had displaced.
    package mutating func remove(_ id: UInt64) -> UInt32? {
        guard count > 0 else { return nil }
        var free = place(of: id)
        guard let number = places[free]?.number else { return nil }
        count -= 1
        var next = (free + 1) & mask
        while let other = places[next] {
            if (next - home(of: other.id)) & mask >= (next - free) & mask {
                places[free] = other
                free = next
            }
            next = (next + 1) & mask
        }
        places[free] = nil
        return number
    }

    private var mask: Int { places.count - 1 }

    /// The place of an id if nothing were in its way: consecutive ids are far apart.
    private func home(of id: UInt64) -> Int { Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) &>> shift) }

    /// The place of the id, or else where it would be put.
    private func place(of id: UInt64) -> Int {
        var place = home(of: id)
        while let other = places[place], other.id != id { place = (place + 1) & mask }
        return place
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: nil, count: max(8, old.count * 2))
        shift = UInt64(UInt64.bitWidth - places.count.trailingZeroBitCount)
        for case let entry? in old { places[place(of: entry.id)] = entry }
    }
}
