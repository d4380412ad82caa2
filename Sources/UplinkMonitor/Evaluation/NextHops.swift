// SPDX-License-Identifier: Apache-2.0

/// The routers of the path and of its alternatives, and which of them do not answer. Pure.
///
/// The kernel chooses among routes of equal metric by what the neighbour table says about their routers, and sends no
/// other message when it switches to another. It always matters that a router stops answering. What is reported about a
/// router later only matters while it is silent, so that the churn of routers that answer is ignored. A router that is
/// not known matters once, because it may have been silent until now.
struct NextHops: Equatable {
    /// The most routers to keep; beyond that, those watched earlier are forgotten.
    private static let capacity = 64

    private(set) var watched: Set<Neighbour> = []
    private(set) var silent: Set<Neighbour> = []

    /// Also watches these; returns whether there is a new one among them.
    mutating func watch(_ hops: Set<Neighbour>) -> Bool {
        guard !hops.isSubset(of: watched) else { return false }
        if watched.count + hops.count > Self.capacity {
            watched = []
            silent.formIntersection(hops)
        }
        watched.formUnion(hops)
        return true
    }

    /// Processes what the kernel says about a neighbour; returns whether the kernel may choose another route because of
    /// it.
    mutating func take(_ record: NeighbourRecord) -> Bool {
        guard watched.contains(record.neighbour) else {
            guard record.isRouter, watched.count < Self.capacity else { return false }
            watched.insert(record.neighbour)
            if record.isSilent { silent.insert(record.neighbour) }
            return true
        }
        guard record.isSilent else { return silent.remove(record.neighbour) != nil }
        silent.insert(record.neighbour)
        return true
    }
}
