// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What sysfs knows about hardware devices and netlink does not say: whether one is a wireless LAN or a modem.
///
/// Only a hint: `/sys/class/net` shows the network namespace of the mount, which in a container may differ from that of
/// the sockets. So an entry only counts if its index agrees. Reading it does not touch a disk.
struct DeviceTypes {
    /// What is known about one device.
    struct Device: Equatable {
        /// Its `DEVTYPE` (`wlan`, `wwan`, `bluetooth`, …).
        var type: String?
        /// The name of its driver, such as `rndis_host`.
        var driver: String?
    }

    private var known: [UInt32: (name: String, device: Device)] = [:]

    /// Returns what is known about a link's device; nothing for links that are not hardware.
    mutating func device(of link: LinkRecord) -> Device {
        guard link.kind == nil else { return Device() }
        if let known = known[link.index], known.name == link.name { return known.device }
        let device = Self.device(named: link.name, index: link.index)
        known[link.index] = (link.name, device)
        return device
    }

    /// Returns what sysfs says about a device now.
    static func device(named name: String, index: UInt32) -> Device {
        let directory = "/sys/class/net/\(name)"
        guard let type = parse(read(directory + "/uevent"), index: index) else { return Device() }
        return Device(type: type.isEmpty ? nil : type, driver: driver(of: directory))
    }

    /// Forgets a link that is gone.
    mutating func remove(_ index: UInt32) { known[index] = nil }

    /// Finds the type in the text of a uevent file: empty if it names none, nil if the file is not about the interface
    /// with this index.
    static func parse(_ text: String, index: UInt32) -> String? {
        let lines = text.split(separator: "\n")
        guard lines.contains("IFINDEX=\(index)") else { return nil }
        return lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst("DEVTYPE=".count)) } ?? ""
    }

    /// The last component of the target of the device's link to its driver.
    private static func driver(of directory: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(directory + "/device/driver", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "/").last.map(String.init)
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
