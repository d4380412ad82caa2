// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The links and addresses of the host, according to the kernel's messages.
///
/// Keyed by index, never by name, because links are renamed while they are up. Each message is the full state of its
/// subject, so getting it twice, or again after a dump, does no harm.
struct InterfaceTable: Equatable {
    private(set) var links: [UInt32: LinkRecord] = [:]
    private var addressesByLink: [UInt32: [AddressRecord]] = [:]

    /// Stores a link's current state.
    mutating func update(_ link: LinkRecord) { links[link.index] = link }

    /// Forgets a link and its addresses: its index may be used again for another link.
    mutating func removeLink(_ index: UInt32) {
        links[index] = nil
        addressesByLink[index] = nil
    }

    /// Stores an address's current state; returns whether anything changed. A new address gets the position that the
    /// kernel gives it: an IPv6 address goes in front of those whose scope is no wider, because the newest is the
    /// source if all else is equal.
    @discardableResult
    mutating func update(_ address: AddressRecord) -> Bool {
        let addresses = addressesByLink[address.index] ?? []
        guard let place = addresses.firstIndex(where: { $0.isSameEntry(as: address) }) else {
            let place = addresses.firstIndex { $0.stands(behind: address) } ?? addresses.endIndex
            addressesByLink[address.index, default: []].insert(address, at: place)
            return true
        }
        if addresses[place] == address { return false }
        addressesByLink[address.index]?[place] = address
        return true
    }

    /// Appends the next address of a list in the kernel's order.
    mutating func append(_ address: AddressRecord) {
        remove(address)
        addressesByLink[address.index, default: []].append(address)
    }

    /// Forgets an address.
    mutating func remove(_ address: AddressRecord) {
        addressesByLink[address.index]?.removeAll { $0.isSameEntry(as: address) }
    }

    /// The addresses of a link, in the kernel's order.
    func addresses(of index: UInt32) -> [AddressRecord] { addressesByLink[index] ?? [] }

    /// Returns what is known about one of this host's addresses: on the given link, or on the first link that has it.
    func record(of address: IPAddress, on index: UInt32?) -> AddressRecord? {
        func entry(_ index: UInt32) -> AddressRecord? { addresses(of: index).first { $0.address == address } }
        if let entry = index.flatMap(entry) { return entry }
        return addressesByLink.keys.filter { entry($0) != nil }.min().flatMap(entry)
    }

    /// The link with this name.
    func link(named name: String) -> LinkRecord? { links.values.first { $0.name == name } }

    /// Returns what a socket bound to one link sees; nothing if there is no such link.
    ///
    /// - Parameter own: The links that the kernel names on the route to this host's own addresses: usually the
    ///   loopback.
    func restricted(to index: UInt32, and own: Set<UInt32> = []) -> Self {
        var table = Self()
        guard let bound = links[index] else { return table }
        for (number, link) in links {
            let isInside = bound.kind == "vrf" && link.master == index  // a VRF leads out through the links in it
            guard number == index || isInside || own.contains(number) else { continue }
            table.links[number] = link
            table.addressesByLink[number] = addressesByLink[number]
        }
        return table
    }

    /// The addresses on links that are up, of one family.
    func operationalAddresses(of family: IPAddress.Family) -> [AddressRecord] {
        operationalLinks.flatMap { addresses(of: $0.index) }.filter { $0.address.family == family }
    }

    /// The addresses among which the kernel looks for an IPv6 source, in its order. It does not care whether their
    /// links are switched on. An address that stays when its link is switched off (`keep_addr_on_down`) has to be
    /// checked for duplicates again, which the kernel does not report; unchecked ones need not.
    var candidatesForSource: [AddressRecord] {
        links.values.sorted { $0.index < $1.index }.flatMap { link in
            addresses(of: link.index).filter { link.flags.contains(.up) || $0.flags.contains(.unchecked) }
        }
    }

    /// All addresses that can be a source.
    var usableAddresses: Set<IPAddress> { Set(addressesByLink.values.joined().filter(\.isUsable).map(\.address)) }

    /// The addresses that a link still has, though it is down or without a carrier; none for others.
    func strandedAddresses(of link: UInt32) -> Set<IPAddress> {
        guard let flags = links[link]?.flags, !flags.isSuperset(of: [.up, .lowerUp]) else { return [] }
        return Set((addressesByLink[link] ?? []).filter(\.isUsable).map(\.address))
    }

    /// The links that packets can currently leave through, in order of index.
    var operationalLinks: [LinkRecord] {
        links.values.filter(\.isOperational).sorted { $0.index < $1.index }
    }
}

extension AddressRecord {
    fileprivate func isSameEntry(as other: Self) -> Bool {
        // A link has an IPv6 address only once; its other end may change.
        let isSamePeer = peer == other.peer || address.family == .ipv6
        return address == other.address && prefixLength == other.prefixLength && isSamePeer
    }

    /// Whether the kernel puts a new address before this one.
    fileprivate func stands(behind new: Self) -> Bool {
        guard address.family == .ipv6, new.address.family == .ipv6 else { return false }
        return address.isLinkLocal || !new.address.isLinkLocal
    }
}
