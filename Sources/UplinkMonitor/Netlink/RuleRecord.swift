// SPDX-License-Identifier: Apache-2.0
import CNetlink
import UplinkCore

/// A policy rule (`RTM_NEWRULE`), as far as needed to know whether one makes packets unreachable.
///
/// Read only if the kernel has no route: it answers an `unreachable` rule with the same error as a missing route.
struct RuleRecord: Equatable {
    var family: IPAddress.Family
    var isUnreachable: Bool
    /// Whether it applies to what its selectors do not match (`not`).
    var isInverted: Bool
    var destination: IPAddress?
    var destinationLength: UInt8
    var source: IPAddress?
    var sourceLength: UInt8 = 0
    var mark: UInt32 = 0
    var markMask: UInt32?
    var users: ClosedRange<UInt32>?
    var outputInterface: String?
    /// The number of the protocol that packets carry (`ipproto`).
    var transport: UInt8?
    /// Whether it has selectors that a question about an unbound socket never matches: a service, a port, an incoming
    /// interface other than the loopback.
    var hasOtherSelectors = false

    /// Whether the rule makes packets unreachable.
    ///
    /// - Parameters:
    ///   - interface: The name of the interface that the socket is bound to.
    ///   - user: The user who asks, if the flow names none.
    func forbids(_ flow: Flow, interface: String?, user: UInt32) -> Bool {
        guard isUnreachable, family == flow.destination.family else { return false }
        let matches =
            !hasOtherSelectors && Self.matches(flow.destination, destination, destinationLength)
            && Self.matches(flow.source, source, sourceLength)
            && (flow.mark ?? 0) & (markMask ?? 0) == mark & (markMask ?? 0)
            && users.map { $0.contains(flow.user ?? user) } ?? true
            && outputInterface.map { $0 == interface } ?? true
            && transport.map { $0 == flow.transport.rawValue } ?? true
        return matches != isInverted
    }

    /// Whether an address is in a prefix; an address that is not known yet is in none.
    private static func matches(_ address: IPAddress?, _ prefix: IPAddress?, _ length: UInt8) -> Bool {
        guard length > 0 else { return true }
        guard let address, let prefix else { return false }
        return prefix.sharesPrefix(ofLength: Int(length), with: address)
    }
}

extension RuleRecord {
    static let headerSize = 12  // struct fib_rule_hdr

    /// Parses the message after its header; nil if it is of a family other than IPv4 and IPv6.
    init?(_ payload: RawSpan) {
        guard let family = payload.integer(at: 0, as: UInt8.self).flatMap(IPAddress.Family.init(kernel:)),
            let destinationLength = payload.integer(at: 1, as: UInt8.self),
            let sourceLength = payload.integer(at: 2, as: UInt8.self),
            let service = payload.integer(at: 3, as: UInt8.self),
            let action = payload.integer(at: 7, as: UInt8.self),
            let flags = payload.integer(at: 8, as: UInt32.self)
        else { return nil }
        self.init(
            family: family, isUnreachable: Int(action) == Int(FR_ACT_UNREACHABLE),
            isInverted: flags & UInt32(FIB_RULE_INVERT) != 0, destinationLength: destinationLength,
            sourceLength: sourceLength, hasOtherSelectors: service != 0)
        NetlinkParser.forEachAttribute(in: payload, after: Self.headerSize) { type, value in
            switch type {
            case Int(FRA_DST): destination = value.address(of: family)
            case Int(FRA_SRC): source = value.address(of: family)
            case Int(FRA_FWMARK):
                mark = value.integer(at: 0, as: UInt32.self) ?? 0
                if markMask == nil, mark != 0 { markMask = .max }
            case Int(FRA_FWMASK): markMask = value.integer(at: 0, as: UInt32.self)
            case Int(FRA_UID_RANGE):
                let (start, end) = (value.integer(at: 0, as: UInt32.self), value.integer(at: 4, as: UInt32.self))
                if let start, let end, start <= end { users = start...end }
            case Int(FRA_OIFNAME): outputInterface = value.text
            case Int(FRA_IIFNAME): if value.text != "lo" { hasOtherSelectors = true }
            case Int(FRA_IP_PROTO): if !value.isZero { transport = value.integer(at: 0, as: UInt8.self) }
            case Int(FRA_SPORT_RANGE), Int(FRA_DPORT_RANGE), Int(FRA_TUN_ID), Int(FRA_L3MDEV):
                if !value.isZero { hasOtherSelectors = true }
            case (Int(FRA_DPORT_RANGE) + 1)...:  // newer kernels' (dscp, flow labels)
                if !value.isZero { hasOtherSelectors = true }
            default: break
            }
        }
    }
}

extension RawSpan {
    fileprivate var isZero: Bool { withUnsafeBytes { $0.allSatisfy { $0 == 0 } } }
}
