// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension LinuxNetworkMonitor.Configuration {
    /// The target of a path.
    enum Target: Sendable, Hashable {
        /// The internet, represented by the probes.
        case internet
        /// One address; if it is link-local, on one interface, by name or number.
        case address(IPAddress, zone: String?)

        /// The address, if the target is one.
        var destination: IPAddress? {
            switch self {
            case .internet: nil
            case .address(let address, _): address
            }
        }

        /// The interface of the address.
        var zone: String? {
            switch self {
            case .internet: nil
            case .address(_, let zone): zone
            }
        }
    }

    /// The addresses that the kernel is asked about.
    var targets: [IPAddress] { target.destination.map { [$0] } ?? ipv4Probes + ipv6Probes }

    /// Whether the path of certain sockets is wanted, rather than of any.
    var isForOtherSockets: Bool { mark != nil || uid != nil || outputInterface != nil }

    /// Refuses values that no socket could have.
    func check() throws(NetworkMonitorError) {
        if uid == .max { throw .invalid("uid is \(UInt32.max), which is no user; give nil for this process's own") }
        if let name = outputInterface, !NetworkInterface.canBeNamed(name) {
            throw .invalid(
                "outputInterface is \"\(name)\"; give the name of an interface: 1 to 15 bytes without spaces, `/` and `:`"
            )
        }
    }

    /// Returns the configuration for the path to one address.
    ///
    /// - Throws: ``NetworkMonitorError`` with the code `invalidConfiguration` if the address does not mean a single
    ///   host, or is link-local and names no interface.
    func leading(to address: IPAddress, zone: String?) throws(NetworkMonitorError) -> Self {
        let address = address.unmapped
        guard !address.isUnspecified, !address.isMulticast else {
            throw .invalid("\(address) is not the address of a host; give a unicast address")
        }
        let needsZone = address.family == .ipv6 && address.isLinkLocal
        guard !needsZone || zone != nil || outputInterface != nil else {
            throw .invalid("\(address) is on every link; name an interface as in \"\(address)%eth0\"")
        }
        guard zone?.isEmpty != true else { throw .invalid("the interface after % in \(address)% is missing") }
        var configuration = self
        configuration.target = .address(address, zone: zone)
        configuration.resolverFile = nil  // an address needs no name server
        return configuration
    }
}

extension IPAddress {
    /// The IPv4 address that an IPv6 address stands for (`::ffff:192.0.2.1`), as for sockets; any other address
    /// unchanged.
    fileprivate var unmapped: IPAddress {
        let mapped = IPAddress(ipv6: 0, 0xFFFF << 32)
        return sharesPrefix(ofLength: 96, with: mapped) ? IPAddress(bytes: bytes.suffix(4)) ?? self : self
    }
}
