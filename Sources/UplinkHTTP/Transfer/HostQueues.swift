// SPDX-License-Identifier: Apache-2.0

/// Whose turn it is: hosts in turn, and first in, first out for each of them, with no more than so many at once, per
/// host and in all. A host with a thousand transfers delays that of another by one at most.
package struct HostQueues: Sendable {
    /// One host's transfers.
    private struct Host {
        var waiting: [UInt64] = []
        var first = 0
        var running = 0
        /// Whether the host stands in the circle.
        var isInTurn = false

        var hasWaiting: Bool { first < waiting.count }
        var count: Int { running + waiting.count - first }

        mutating func takeFirst() -> UInt64 {
            defer { first += 1 }
            let id = waiting[first]
            if first >= 1024, first * 2 > waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return id
        }
    }

    /// Where a transfer is.
    private struct Place {
        let host: String
        var isRunning = false
    }

    private let maximumRunning: Int
    private let maximumRunningPerHost: Int
    private let maximumWaiting: Int
    private var hosts: [String: Host] = [:]
    private var places: [UInt64: Place] = [:]
    private var running = 0
    /// The hosts that have somebody waiting and may run another one, in the order of their turns.
    private var circle: [String] = []
    private var circleFirst = 0

    package init(maximumRunning: Int, maximumRunningPerHost: Int, maximumWaiting: Int) {
        self.maximumRunning = maximumRunning
        self.maximumRunningPerHost = maximumRunningPerHost
        self.maximumWaiting = maximumWaiting
    }

    /// Takes a transfer in; false when too many wait. One that would run at once does not count as waiting.
    package mutating func add(_ id: UInt64, host: String) -> Bool {
        let startsAtOnce = places.count < maximumRunning && hosts[host]?.count ?? 0 < maximumRunningPerHost
        guard startsAtOnce || places.count - running < maximumWaiting else { return false }
        places[id] = Place(host: host)
        hosts[host, default: Host()].waiting.append(id)
        enterCircle(host)
        return true
    }

    /// The next transfer that may run, if there is one. It runs until it is removed.
    package mutating func next() -> UInt64? {
        while running < maximumRunning, circleFirst < circle.count {
            let name = circle[circleFirst]
            circleFirst += 1
            if circleFirst >= 64, circleFirst * 2 > circle.count {
                circle.removeFirst(circleFirst)
                circleFirst = 0
            }
            hosts[name]?.isInTurn = false
            guard let id = takeWaiting(of: name) else {
                forgetIfIdle(name)
                continue
            }
            places[id]?.isRunning = true
            hosts[name]?.running += 1
            running += 1
            enterCircle(name)
            return id
        }
        return nil
    }

    /// Lets a transfer go, wherever it is.
    package mutating func remove(_ id: UInt64) {
        guard let place = places.removeValue(forKey: id) else { return }
        if place.isRunning {
            running -= 1
            hosts[place.host]?.running -= 1
            enterCircle(place.host)
        }
        forgetIfIdle(place.host)
    }

    /// The first of a host's transfers that has not been removed meanwhile.
    private mutating func takeWaiting(of host: String) -> UInt64? {
        while let id = hosts[host]?.hasWaiting == true ? hosts[host]?.takeFirst() : nil {
            if places[id] != nil { return id }
        }
        return nil
    }

    private mutating func enterCircle(_ name: String) {
        guard let host = hosts[name], !host.isInTurn, host.hasWaiting, host.running < maximumRunningPerHost else {
            return
        }
        hosts[name]?.isInTurn = true
        circle.append(name)
    }

    private mutating func forgetIfIdle(_ name: String) {
        guard let host = hosts[name], host.running == 0, !host.isInTurn, !host.hasWaiting else { return }
        hosts[name] = nil
    }
}
