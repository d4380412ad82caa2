// SPDX-License-Identifier: Apache-2.0
import CNetlink
import UplinkCore

/// An address of this host on a link (`RTM_NEWADDR`).
struct AddressRecord: Equatable {
    /// The flags of an address (`IFA_FLAGS`) that matter here.
    struct Flags: OptionSet {
        let rawValue: UInt32

        /// It is not checked for duplicates, whatever becomes of its link.
        static let unchecked = Self(rawValue: 1 << 1)
        /// Another host on the link has it.
        static let duplicate = Self(rawValue: 1 << 3)
        /// Valid, but not for new connections.
        static let deprecated = Self(rawValue: 1 << 5)
        /// It is being checked for duplicates.
        static let tentative = Self(rawValue: 1 << 6)
        /// It may be used while it is being checked (RFC 4429).
        static let optimistic = Self(rawValue: 1 << 2)
    }

    var index: UInt32
    var address: IPAddress
    var prefixLength: UInt8
    var flags: Flags
    /// The other end of a point-to-point link, which distinguishes two entries with the same address of ours.
    var peer: IPAddress?

    /// Whether the address could be used to talk to other hosts, now or once it has been checked.
    private var isForOthers: Bool {
        !address.isLoopback && !address.isUnspecified && !(address.family == .ipv6 && address.isLinkLocal)
    }

    /// Whether the kernel may choose the address as a source.
    var isUsable: Bool {
        isForOthers && !flags.contains(.duplicate) && (!flags.contains(.tentative) || flags.contains(.optimistic))
    }

    /// Whether the address will be usable when nobody on the link objects.
    var isPending: Bool { isForOthers && !isUsable && !flags.contains(.duplicate) }

    /// The same for one that is usable only to talk to hosts on the link.
    var isPendingOnLink: Bool {
        address.family == .ipv6 && address.isLinkLocal && flags.contains(.tentative)
            && flags.isDisjoint(with: [.duplicate, .optimistic])
    }
}

extension AddressRecord {
    static let headerSize = 8  // struct ifaddrmsg

    /// Parses the message after its header; nil if it is not about an IPv4 or IPv6 address.
    ///
    /// `IFA_LOCAL` is our address. `IFA_ADDRESS` is that of the other end on a point-to-point link, and ours if the
    /// former is missing (IPv6).
    init?(_ payload: RawSpan) {
        guard let family = payload.integer(at: 0, as: UInt8.self).flatMap(IPAddress.Family.init(kernel:)),
            let prefixLength = payload.integer(at: 1, as: UInt8.self),
            let shortFlags = payload.integer(at: 2, as: UInt8.self),
            let index = payload.integer(at: 4, as: UInt32.self), index != 0
        else { return nil }
        var (local, address, flags): (IPAddress?, IPAddress?, UInt32) = (nil, nil, UInt32(shortFlags))
        NetlinkParser.forEachAttribute(in: payload, after: Self.headerSize) { type, value in
            switch type {
            case Int(IFA_LOCAL): local = value.address(of: family)
            case Int(IFA_ADDRESS): address = value.address(of: family)
            case Int(IFA_FLAGS): flags = value.integer(at: 0, as: UInt32.self) ?? flags
            default: break
            }
        }
        guard let own = local ?? address else { return nil }
        self.init(
            index: index, address: own, prefixLength: prefixLength, flags: Flags(rawValue: flags),
            peer: address == own ? nil : address)
    }
}
