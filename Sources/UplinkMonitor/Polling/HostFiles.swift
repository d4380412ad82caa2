// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
import UplinkCore

/// What the kernel reveals about its network without netlink: files of proc(5), netdevice(7), and connected UDP
/// sockets, which send nothing. (getifaddrs(3) is no help, because it uses netlink.)
///
/// Everything is opened at the start, on the loop's thread, and so belongs to that thread's network namespace. Reading
/// may be done on any thread, by one at a time.
final class HostFiles: Sendable {
    /// The files' names under `/proc/thread-self/net`.
    private enum File: String, CaseIterable { case dev, route, ipv6Routes = "ipv6_route", ipv6Addresses = "if_inet6" }

    /// The most bytes that are read of a table, and the most IPv4 addresses that are asked for. A larger table, such as
    /// the routes of a router with all routes of the internet, counts as unavailable: a missing table leaves a doubt,
    /// half a table gives a wrong answer.
    static let maximumTableSize = 4 << 20
    static let maximumAddresses = 4096

    private let files: [File: CInt]
    private let sockets: [IPAddress.Family: CInt]

    /// Opens what can be opened. The rest is missing from what is read.
    init() {
        var files: [File: CInt] = [:]
        for file in File.allCases {
            let descriptor = open("/proc/thread-self/net/\(file.rawValue)", O_RDONLY | O_CLOEXEC)
            if descriptor >= 0 { files[file] = descriptor }
        }
        var sockets: [IPAddress.Family: CInt] = [:]
        for (family, domain) in [(IPAddress.Family.ipv4, AF_INET), (.ipv6, AF_INET6)] {
            let descriptor = socket(domain, CInt(bitPattern: SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            if descriptor >= 0 { sockets[family] = descriptor }
        }
        (self.files, self.sockets) = (files, sockets)
    }

    deinit { for descriptor in Array(files.values) + Array(sockets.values) { close(descriptor) } }

    private func text(of file: File) -> String? {
        files[file].flatMap { Self.text(of: $0, atMost: Self.maximumTableSize) }
    }

    /// The text of a table; nil if it cannot be read or has more bytes.
    static func text(of descriptor: CInt, atMost maximum: Int) -> String? {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = pread(descriptor, &piece, piece.count, off_t(text.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += piece.prefix(count)
            guard text.count <= maximum else { return nil }
        }
    }
}

extension HostFiles {
    /// Reads everything there is to know now.
    func read(probes: [IPAddress]) -> HostSnapshot {
        let names = text(of: .dev).map(HostTables.interfaceNames) ?? []
        return HostSnapshot(
            links: names.compactMap(link), ipv4Addresses: ipv4Addresses(atMost: Self.maximumAddresses),
            ipv6Addresses: text(of: .ipv6Addresses).map(HostTables.ipv6Addresses),
            ipv4Routes: text(of: .route).map(HostTables.ipv4Routes),
            ipv6Routes: text(of: .ipv6Routes).map(HostTables.ipv6Routes), verdicts: probes.map(verdict))
    }

    /// Returns how the kernel would send a packet to the address: connecting a UDP socket looks up a route and does no
    /// more.
    private func verdict(on probe: IPAddress) -> HostSnapshot.Verdict {
        guard let descriptor = sockets[probe.family] else {
            // A kernel without IPv6 has no table of its addresses either; anything else is a sandbox.
            return probe.family == .ipv6 && files[.dev] != nil && files[.ipv6Addresses] == nil
                ? .refused(EAFNOSUPPORT) : .unknown
        }
        var nobody = SocketAddress.unspecified
        _ = nobody.withSockaddr { connect(descriptor, $0, $1) }  // clears the source address of the last question
        var address = SocketAddress(probe, port: 9)
        guard address.withSockaddr({ connect(descriptor, $0, $1) }) == 0 else { return .refused(errno) }
        var (own, length) = (SocketAddress.unspecified, SocketAddress.size)
        let status = own.withMutableSockaddr { getsockname(descriptor, $0, &length) }
        return status == 0 ? .source(own.address(of: probe.family)) : .unknown
    }

    private func link(named name: String) -> HostSnapshot.Link? {
        guard let descriptor = sockets[.ipv4] ?? sockets[.ipv6] else { return nil }
        var request = InterfaceRequest(name)
        guard let index = request.ask(UInt(SIOCGIFINDEX), descriptor, as: UInt32.self),
            let flags = request.ask(UInt(SIOCGIFFLAGS), descriptor, as: UInt16.self)
        else { return nil }
        var link = HostSnapshot.Link(
            index: index, name: name, flags: UInt32(flags),
            hardwareType: request.ask(UInt(SIOCGIFHWADDR), descriptor, as: UInt16.self) ?? 0,
            mtu: request.ask(UInt(SIOCGIFMTU), descriptor, as: UInt32.self) ?? 0)
        link.device = DeviceTypes.device(named: name, index: index)
        return link
    }

    /// The IPv4 addresses with the names of their interfaces; nil if they cannot be read, or there are more.
    func ipv4Addresses(atMost maximum: Int) -> [(name: String, address: IPAddress)]? {
        guard let descriptor = sockets[.ipv4] else { return nil }
        // Room for one more, since the kernel does not say whether it has left some out.
        var buffer = [UInt8](repeating: 0, count: (maximum + 1) * InterfaceRequest.size)
        let length = buffer.withUnsafeMutableBytes { bytes in
            var list = ifconf()
            list.ifc_len = CInt(bytes.count)
            list.ifc_ifcu.ifcu_buf = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return ioctl(descriptor, UInt(SIOCGIFCONF), &list) == 0 ? Int(list.ifc_len) : -1
        }
        guard length >= 0, length <= maximum * InterfaceRequest.size else { return nil }
        return stride(from: 0, to: length - InterfaceRequest.size + 1, by: InterfaceRequest.size).compactMap { start in
            let entry = buffer[start..<start + InterfaceRequest.size]
            let name = entry.prefix(16).prefix { $0 != 0 }
            let address = entry.dropFirst(20).prefix(4)  // after the family and the port of a sockaddr_in
            return IPAddress(bytes: address).map { (String(decoding: name, as: UTF8.self), $0) }
        }
    }
}

/// A `struct ifreq`: the name of an interface, and 24 bytes for the answer.
private struct InterfaceRequest {
    static let size = 40
    private var bytes = [UInt8](repeating: 0, count: size)

    init(_ name: String) { bytes.replaceSubrange(0..<min(15, name.utf8.count), with: name.utf8.prefix(15)) }

    mutating func ask<Value: FixedWidthInteger>(_ request: UInt, _ descriptor: CInt, as: Value.Type) -> Value? {
        bytes.replaceSubrange(16..., with: repeatElement(0, count: Self.size - 16))
        guard ioctl(descriptor, request, &bytes) == 0 else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: Value.self) }
    }
}
