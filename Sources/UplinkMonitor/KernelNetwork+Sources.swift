// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Packets, and what the kernel says about them.
struct Answer: Equatable {
    /// What was asked about in the end: with the source if it makes a difference, or bound to the interface of a route.
    var flow: Flow
    var verdict: RouteVerdict
}

// connect(2) asks about IPv4 a second time, with the source that the first answer gave, so that rules for a source
// (`rule add from …`) can decide. For IPv6, if there is no route and no source is known yet, it ignores that, chooses a
// source and asks again. Routes and rules for a certain source (`default from …`) are only found in this way.

extension KernelNetwork {
    /// Returns the route that packets would take, with a source if that makes a difference.
    func answer(to flow: Flow) throws(NetlinkError) -> Answer { try answer(to: flow, by: kernel.verdict(on:)) }

    /// Asks about packets, and again with the source that a socket would get if connect(2) would do so.
    func answer(
        to flow: Flow, by ask: (Flow) throws(NetlinkError) -> RouteVerdict
    ) throws(NetlinkError) -> Answer {
        var verdict = try ask(flow)
        switch flow.destination.family {
        case .ipv4:
            // Routes may change between the two questions: the second answer counts if the first one still holds.
            for _ in 0..<3 {
                guard let source = verdict.route?.source else { break }
                let second = try answer(to: flow, from: source, by: ask)
                if second.verdict == verdict { break }
                let again = try ask(flow)
                if again == verdict { return second }
                verdict = again
            }
        case .ipv6:
            guard verdict == .none || verdict == .blocked, let source = source(of: flow) else { break }
            let second = try answer(to: flow, from: source, by: ask)
            if let route = second.verdict.route, try leads(route, where: flow, from: source) { return second }
        }
        return Answer(flow: flow, verdict: verdict)
    }

    /// Whether a route leads through the interface that packets are bound to, if they are. With a source, the kernel's
    /// answers about IPv6 do not heed the interface; a bound socket does.
    private func leads(_ route: RouteRecord, where flow: Flow, from source: IPAddress) throws(NetlinkError) -> Bool {
        guard let interface = flow.interface else { return true }
        if let index = route.interfaceIndex { return index == interface }
        return try kernel.verdict(on: flow.from(source)).route?.interfaceIndex == interface  // a route of several legs
    }

    private func answer(
        to flow: Flow, from source: IPAddress, by ask: (Flow) throws(NetlinkError) -> RouteVerdict
    ) throws(NetlinkError) -> Answer {
        var verdict = try ask(flow.from(source))
        if var route = verdict.route {
            route.source = source  // the kernel names its own choice, or none
            verdict = .unicast(route)
        }
        return Answer(flow: flow.from(source), verdict: verdict)
    }

    /// The address that a socket gets if the kernel knows no route: the kernel tries one address and no other. By those
    /// rules of RFC 6724, section 5, that can be evaluated here: not a deprecated one, one of the interface, one of the
    /// destination's kind, and the one that has most bits in common with the destination. Whether its link is switched
    /// on, or has a carrier, does not count.
    private func source(of flow: Flow) -> IPAddress? {
        func rank(_ record: AddressRecord) -> Int {
            let isOfAnotherKind = record.address.isPrivate != flow.destination.isPrivate
            let isElsewhere = flow.interface.map { $0 != record.index } ?? false
            let rank = (record.flags.contains(.deprecated) ? 4 : 0) + (isElsewhere ? 2 : 0) + (isOfAnotherKind ? 1 : 0)
            let common = (0...Int(record.prefixLength)).last {
                record.address.sharesPrefix(ofLength: $0, with: flow.destination)
            }
            return rank * 256 - (common ?? 0)
        }
        let usable = table.candidatesForSource.filter { $0.address.family == .ipv6 && $0.isUsable }
        return usable.map { (rank($0), $0.address) }.min { $0.0 < $1.0 }?.1
    }
}
