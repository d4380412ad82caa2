// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

/// Interprets bytes that are not from a kernel as the monitor does: for the fuzzer and for recorded messages. No I/O.
package struct NetlinkReplay {
    /// The number of messages that contained an event.
    package private(set) var events = 0
    /// Whether all bytes belonged to messages.
    package private(set) var isWellFormed = true
    private var table = InterfaceTable()
    private var verdicts: [IPAddress.Family: [RouteVerdict]] = [:]

    package init() {}

    /// Processes a datagram twice: as an event, and as the answer to a question.
    package mutating func take(_ datagram: RawSpan) {
        var exchange: Exchange?
        isWellFormed =
            NetlinkParser.forEachMessage(in: datagram) { header, payload in
                if let event = EventSocket.event(header, payload) { take(event) }
                var current = exchange ?? Exchange(sequence: header.sequence)
                _ = current.accepts(header, payload)
                if case .refused(let errno) = current.reply {
                    verdicts[.ipv4, default: []].append(RouteVerdict(errno: errno))
                }
                exchange = current
            } && isWellFormed
    }

    /// The path that results from all of it, as if the routes were the kernel's answers.
    package var path: NetworkPath {
        var verdicts = verdicts
        for family in IPAddress.Family.allCases where verdicts[family] == nil { verdicts[family] = [.none] }
        return PathEvaluation(table: table, verdicts: verdicts).path
    }

    private mutating func take(_ event: EventSocket.Event) {
        events += 1
        switch event {
        case .link(let link): table.update(link)
        case .linkRemoved(let index): table.removeLink(index)
        case .address(let address): table.update(address)
        case .addressRemoved(let address): table.remove(address)
        case .route(let route): verdicts[route.family, default: []].append(RouteVerdict(route))
        case .neighbour, .configuration: break
        }
    }
}
