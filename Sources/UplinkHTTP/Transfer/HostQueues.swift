// SPDX-License-Identifier: Apache-2.0

/// Decides whose turn it is: round robin between hosts, first in, first out for each host, with a limit on running
/// transfers per host and in all. A host with a thousand transfers delays a transfer of another host by one at most.
package struct HostQueues: Sendable {
    /// One host's transfers.
    private struct Host {
        let name: String
        var waiting: [UInt64] = []
        var first = 0
        /// How many of those in line have been removed and are to be skipped.
        var gone = 0
        var running = 0
        /// Whether the host is in the circle.
        var isInTurn = false

        var hasWaiting: Bool { first + gone < waiting.count }
        var count: Int { running + waiting.count - first - gone }

        /// Forgets those that have been removed, once they are the majority. Otherwise a line that never moves, because
        /// its host is full for a long time, would grow with every transfer that gives up.
        mutating func forgetGone(keeping places: IDTable) {
            guard gone >= 64, gone * 2 > waiting.count - first else { return }
            waiting = waiting[first...].filter { places[$0] != nil }
            (first, gone) = (0, 0)
        }

        mutating func takeFirst() -> UInt64 {
            let id = waiting[first]
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: first < 1024)
                first = 0
            } else if first >= 1024, first * 2 > waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return id
        }
    }

    /// Where a transfer is: the host's slot, and whether it runs.
    private struct Place {
        let number: UInt32

        init(number: UInt32) { self.number = number }
        init(host: Int, isRunning: Bool) { number = UInt32(host) << 1 | (isRunning ? 1 : 0) }

        var host: Int { Int(number >> 1) }
        var isRunning: Bool { number & 1 != 0 }
    }

    /// The most transfers that run at the same time, over all hosts. Lowering it ends none.
    package var maximumRunning: Int
    private let maximumRunningPerHost: Int
    private let maximumWaiting: Int
    /// The hosts, each in the slot that its transfers refer to, and the slots' numbers by name.
    private var hosts: [Host] = []
    private var slots: [String: Int] = [:]
    /// The slot that was used last, which is usually needed next, too: kept even if its host is idle.
    private var lastSlot: Int?
    private var freeSlots: [Int] = []
    /// Each transfer's ``Place``.
    private var places = IDTable()
    private var running = 0
    /// How many run or would run if there were no other hosts: for each host no more than it may have.
    private var claims = 0
    /// The hosts with a waiting transfer that may run another one, in the order of their turns.
    private var circle: [Int] = []
    private var circleFirst = 0

    package init(maximumRunning: Int, maximumRunningPerHost: Int, maximumWaiting: Int) {
        self.maximumRunning = maximumRunning
        self.maximumRunningPerHost = maximumRunningPerHost
        self.maximumWaiting = maximumWaiting
    }

    /// Adds a transfer; returns false when too many wait. One that would run immediately does not count as waiting.
    package mutating func add(_ id: UInt64, host: String) -> Bool {
        let known = slot(of: host)
        let hasClaim = known.map { hosts[$0].count } ?? 0 < maximumRunningPerHost
        let startsAtOnce = hasClaim && claims < maximumRunning
        guard startsAtOnce || places.count - min(claims, maximumRunning) < maximumWaiting else { return false }
        if hasClaim { claims += 1 }
        let slot = known ?? takeSlot(for: host)
        places[id] = Place(host: slot, isRunning: false).number
        hosts[slot].waiting.append(id)
        enterCircle(slot)
        if let lastSlot, lastSlot != slot {
            self.lastSlot = slot
            forgetIfIdle(lastSlot)
        } else {
            lastSlot = slot
        }
        return true
    }

    private func slot(of name: String) -> Int? {
        if let lastSlot, hosts[lastSlot].name == name { return lastSlot }
        return slots[name]
    }

    private mutating func takeSlot(for name: String) -> Int {
        let slot = freeSlots.popLast() ?? hosts.count
        if slot == hosts.count { hosts.append(Host(name: name)) } else { hosts[slot] = Host(name: name) }
        slots[name] = slot
        return slot
    }

    /// Returns the next transfer that may run, if there is one. It runs until it is removed.
    package mutating func next() -> UInt64? {
        while running < maximumRunning, circleFirst < circle.count {
            let slot = circle[circleFirst]
            circleFirst += 1
            if circleFirst >= 64, circleFirst * 2 > circle.count {
                circle.removeFirst(circleFirst)
                circleFirst = 0
            }
            hosts[slot].isInTurn = false
            guard let id = runWaiting(of: slot) else {
                forgetIfIdle(slot)
                continue
            }
            hosts[slot].running += 1
            running += 1
            enterCircle(slot)
            return id
        }
        return nil
    }

    /// Removes a transfer, whether it waits or runs.
    package mutating func remove(_ id: UInt64) {
        guard let place = places.remove(id).map(Place.init) else { return }
        if hosts[place.host].count <= maximumRunningPerHost { claims -= 1 }
        if place.isRunning {
            running -= 1
            hosts[place.host].running -= 1
            enterCircle(place.host)
        } else {
            hosts[place.host].gone += 1
            hosts[place.host].forgetGone(keeping: places)
        }
        forgetIfIdle(place.host)
    }

    /// The number of ids remembered for all lines together; for tests.
    package var remembered: Int { hosts.reduce(0) { $0 + $1.waiting.count } }

    /// The number of hosts that have a slot; for tests.
    package var knownHosts: Int { slots.count }

    /// Takes the first of a host's transfers that has not been removed; from here on it runs.
    private mutating func runWaiting(of slot: Int) -> UInt64? {
        while hosts[slot].hasWaiting {
            let id = hosts[slot].takeFirst()
            guard places[id] == nil else {
                places[id] = Place(host: slot, isRunning: true).number
                return id
            }
            hosts[slot].gone -= 1
        }
        return nil
    }

    private mutating func enterCircle(_ slot: Int) {
        guard !hosts[slot].isInTurn, hosts[slot].hasWaiting, hosts[slot].running < maximumRunningPerHost else { return }
        hosts[slot].isInTurn = true
        circle.append(slot)
    }

    /// Forgets a host that has no transfers and is not in the circle: nothing refers to its slot any more.
    private mutating func forgetIfIdle(_ slot: Int) {
        guard slot != lastSlot, hosts[slot].running == 0, !hosts[slot].isInTurn, !hosts[slot].hasWaiting else { return }
        slots[hosts[slot].name] = nil
        hosts[slot] = Host(name: "")
        freeSlots.append(slot)
    }
}
