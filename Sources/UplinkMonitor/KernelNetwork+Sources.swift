// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Packets, and what the kernel says of them.
struct Answer: Equatable {
    /// What was asked about in the end: with the source without which there is no way, or bound to the interface of one.
    var flow: Flow
    var verdict: RouteVerdict
}

// For IPv6, connect(2) forgets that there is no way where it knows no source yet: it chooses one and asks again. Routes and
// rules for a source alone (`default from …`, `rule add from …`) are found so, and not otherwise.

extension KernelNetwork {
    /// Which way packets would take, with a source if it needs one.
    func answer(to flow: Flow) throws(NetlinkError) -> Answer { try answer(to: flow, by: kernel.verdict(on:)) }

    /// Asks about packets and, where IPv6 has no way, once more for the source that a socket would get.
    func answer(
        to flow: Flow, by ask: (Flow) throws(NetlinkError) -> RouteVerdict
    ) throws(NetlinkError) -> Answer {
        let verdict = try ask(flow)
        guard flow.destination.family == .ipv6, verdict == .none || verdict == .blocked else {
            return Answer(flow: flow, verdict: verdict)
        }
        guard let source = source(of: flow), var route = try ask(flow.from(source)).route else {
            return Answer(flow: flow, verdict: verdict)
        }
        route.source = source  // the kernel names the one that it would choose by itself
        return Answer(flow: flow.from(source), verdict: .unicast(route))
    }

    /// The address that a socket gets where the kernel knows no way: the kernel tries one, and no other. By the rules of
    /// RFC 6724, section 5, that can be told from here: no deprecated one, one of the interface, one of the destination's
    /// kind, the one that has most in common with the destination.
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
        let usable = table.operationalAddresses(of: .ipv6).filter(\.isUsable)
        return usable.map { (rank($0), $0.address) }.min { $0.0 < $1.0 }?.1
    }
}
