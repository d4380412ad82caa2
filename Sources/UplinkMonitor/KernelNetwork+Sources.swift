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
    /// More sources than this are not tried.
    private static let sourcesTried = 16

    /// Which way packets would take, with a source if it needs one.
    func answer(to flow: Flow) throws(NetlinkError) -> Answer { try answer(to: flow, by: kernel.verdict(on:)) }

    /// Asks about packets and, where IPv6 has no way, once more for each source that a socket may get.
    func answer(
        to flow: Flow, by ask: (Flow) throws(NetlinkError) -> RouteVerdict
    ) throws(NetlinkError) -> Answer {
        let verdict = try ask(flow)
        guard flow.destination.family == .ipv6, verdict == .none || verdict == .blocked else {
            return Answer(flow: flow, verdict: verdict)
        }
        for source in sources(of: flow) {
            let sourced = flow.from(source)
            guard var route = try ask(sourced).route else { continue }
            route.source = source  // the kernel names the one that it would choose by itself
            return Answer(flow: sourced, verdict: .unicast(route))
        }
        return Answer(flow: flow, verdict: verdict)
    }

    /// The addresses that a socket may get, in about the kernel's order of preference (RFC 6724): deprecated ones last,
    /// those of the destination's kind first, then those of the interface.
    private func sources(of flow: Flow) -> [IPAddress] {
        func rank(_ record: AddressRecord) -> Int {
            let isOfAnotherKind = record.address.isPrivate != flow.destination.isPrivate
            let isElsewhere = flow.interface.map { $0 != record.index } ?? false
            return (record.flags.contains(.deprecated) ? 4 : 0) + (isOfAnotherKind ? 2 : 0) + (isElsewhere ? 1 : 0)
        }
        let usable = table.operationalAddresses(of: .ipv6).filter(\.isUsable)
        let ranked = (0..<8).flatMap { number in usable.filter { rank($0) == number } }
        return ranked.prefix(Self.sourcesTried).map(\.address)
    }
}
