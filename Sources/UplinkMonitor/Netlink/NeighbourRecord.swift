// SPDX-License-Identifier: Apache-2.0
import CNetlink
import UplinkCore

/// What the neighbour table says about a neighbour (`RTM_NEWNEIGH`).
struct NeighbourRecord: Equatable {
    var neighbour: Neighbour
    /// Whether it was asked for its hardware address and did not answer (`NUD_FAILED`).
    var isSilent: Bool
    /// Whether it advertises itself as a router (`NTF_ROUTER`, only IPv6).
    var isRouter = false
}

extension NeighbourRecord {
    static let headerSize = 12  // struct ndmsg

    /// Parses the message after its header; nil if it is not about an IPv4 or IPv6 address, as with that of a bridge.
    init?(_ payload: RawSpan) {
        guard let family = payload.integer(at: 0, as: UInt8.self).flatMap(IPAddress.Family.init(kernel:)),
            let index = payload.integer(at: 4, as: UInt32.self),
            let state = payload.integer(at: 8, as: UInt16.self), let flags = payload.integer(at: 10, as: UInt8.self),
            payload.byteCount >= Self.headerSize
        else { return nil }
        var address: IPAddress?
        NetlinkParser.forEachAttribute(in: payload, after: Self.headerSize) { type, value in
            if type == Int(NDA_DST) { address = value.address(of: family) }
        }
        guard let address else { return nil }
        self.init(
            neighbour: Neighbour(address: address, interfaceIndex: index), isSilent: Int32(state) == NUD_FAILED,
            isRouter: Int32(flags) & NTF_ROUTER != 0)
    }
}
