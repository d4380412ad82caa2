// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What sysfs says of hardware devices: whether one is a wireless LAN or a modem, which netlink does not tell.
///
/// Only a hint: `/sys/class/net` shows the network namespace of the mount, in a container perhaps another one than the
/// sockets'. So an entry counts only if the index agrees. Reading it touches no disk.
struct DeviceTypes {
    private var known: [UInt32: (name: String, type: String?)] = [:]

    /// The `DEVTYPE` of a link's device (`wlan`, `wwan`, `bluetooth`, …), or nil.
    mutating func type(of link: LinkRecord) -> String? {
        guard link.kind == nil else { return nil }
        if let known = known[link.index], known.name == link.name { return known.type }
        let type = Self.read(name: link.name, index: link.index)
        known[link.index] = (link.name, type)
        return type
    }

    /// Forgets a link that is gone.
    mutating func remove(_ index: UInt32) { known[index] = nil }

    /// The type as sysfs has it now.
    static func read(name: String, index: UInt32) -> String? {
        parse(read("/sys/class/net/\(name)/uevent"), index: index)
    }

    /// Finds the type in the text of a uevent file that is about the interface with this index.
    static func parse(_ text: String, index: UInt32) -> String? {
        let lines = text.split(separator: "\n")
        guard lines.contains("IFINDEX=\(index)") else { return nil }
        return lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst("DEVTYPE=".count)) }
    }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
