// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

extension LinuxNetworkMonitor {
    /// Makes a monitor of the path to one address: whether packets to it can leave this host, through which interface
    /// and gateway and from which source, and how far away it is. No packet is sent.
    ///
    /// ```swift
    /// let router = try monitor.destination("192.0.2.77")  // may well be satisfied without an internet
    /// for try await path in router.paths { print(path) }
    /// ```
    ///
    /// It is a separate monitor, on this one's loop and with its configuration, and works while somebody iterates over
    /// its `paths`. Only the family of the address is asked about; the other one is `FamilyPath.notAsked`. An address
    /// of this host is reached through the loopback. Name servers are left out. For a satisfied path,
    /// `NetworkPath.scope` says how far away the address is: this host, a link, a site (a neighbour, or private
    /// addresses), or the internet.
    ///
    /// - Parameters:
    ///   - address: A unicast address. An IPv4 address in IPv6 form (`::ffff:192.0.2.1`) counts as IPv4, as for
    ///     sockets.
    ///   - zone: The interface that a link-local IPv6 address is on, by name or number.
    /// - Throws: `NetworkMonitorError` with the code `invalidConfiguration` if the address does not mean a single host,
    ///   or is a link-local IPv6 address without a zone. If no route leads to it at present, that is not an error.
    public func destination(
        _ address: IPAddress, zone: String? = nil
    ) throws(NetworkMonitorError) -> LinuxNetworkMonitor {
        let configuration = try watcher.configuration.leading(to: address, zone: zone)
        return LinuxNetworkMonitor(on: watcher.eventLoop, configuration: configuration)
    }

    /// Makes a monitor for an address in text form, such as `192.0.2.77` or `fe80::1%eth0`.
    ///
    /// - Throws: `NetworkMonitorError` with the code `invalidConfiguration` if the text is not an address (names are
    ///   not resolved), and in the same cases as ``destination(_:zone:)``.
    public func destination(_ text: String) throws(NetworkMonitorError) -> LinuxNetworkMonitor {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else {
            throw .invalid("\"\(text)\" is not an address; give one such as 192.0.2.77, 2001:db8::1 or fe80::1%eth0")
        }
        return try destination(address, zone: parts.count > 1 ? String(parts[1]) : nil)
    }
}
