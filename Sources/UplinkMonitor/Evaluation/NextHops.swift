// SPDX-License-Identifier: Apache-2.0

/// The routers of the path and of its alternatives, and which of them are silent. Pure.
///
/// The kernel chooses among routes of one metric by what the neighbour table says of their routers, and tells nothing
/// else when it turns to another. That one falls silent always matters; what is told of one later, only while it is
/// silent, so that the churn of those that answer does not.
struct NextHops {
    /// More than this many are not kept: what was watched long ago is forgotten then.
    private static let capacity = 64

    private(set) var watched: Set<Neighbour> = []
    private(set) var silent: Set<Neighbour> = []

    /// Watches these too; whether there is a new one among them.
    mutating func watch(_ hops: Set<Neighbour>) -> Bool {
        guard !hops.isSubset(of: watched) else { return false }
        if watched.count + hops.count > Self.capacity {
            watched = []
            silent.formIntersection(hops)
        }
        watched.formUnion(hops)
        return true
    }

    /// Takes what the kernel says of a neighbour; whether it may choose another way for it.
    mutating func take(_ record: NeighbourRecord) -> Bool {
        guard watched.contains(record.neighbour) else { return false }
        guard record.isSilent else { return silent.remove(record.neighbour) != nil }
        silent.insert(record.neighbour)
        return true
    }
}
