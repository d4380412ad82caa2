// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkMonitor

/// What the kernel says on rtnetlink(7), taken by the monitor.
enum Netlink {
    /// A link, its address and a default route, in turn; each is looked at as the event and as the answer that it may
    /// be.
    static func messages(_ count: Int) throws {
        let datagrams = [link, address, route]
        for _ in 0..<count / 3 {
            var replay = NetlinkReplay()
            for datagram in datagrams { datagram.bytes.withUnsafeBytes { replay.take($0.bytes) } }
            try check(replay.events == 3 && replay.isWellFormed && replay.path.isSatisfied)
        }
    }

    /// RTM_NEWLINK: eth0, the second interface, an Ethernet that is up.
    private static let link = Message(16) { message in
        message.add([0, 0, 1, 0, 2, 0, 0, 0, 0x43, 0x10, 1, 0, 0, 0, 0, 0])  // struct ifinfomsg
        message.add(attribute: 3, Array("eth0".utf8) + [0])
        message.add(attribute: 16, [6])  // IFLA_OPERSTATE: up
        message.add(attribute: 4, [0xDC, 5, 0, 0])
        message.add(attribute: 1, [2, 0, 0, 0, 0, 2])
    }

    /// RTM_NEWADDR: 192.0.2.10/24.
    private static let address = Message(20) { message in
        message.add([2, 24, 0x80, 0, 2, 0, 0, 0])  // struct ifaddrmsg
        message.add(attribute: 1, [192, 0, 2, 10])
        message.add(attribute: 2, [192, 0, 2, 10])
        message.add(attribute: 3, Array("eth0".utf8) + [0])
        message.add(attribute: 8, [0x80, 0, 0, 0])
    }

    /// RTM_NEWROUTE: to anywhere by 192.0.2.1.
    private static let route = Message(24) { message in
        message.add([2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0])  // struct rtmsg
        message.add(attribute: 15, [254, 0, 0, 0])
        message.add(attribute: 5, [192, 0, 2, 1])
        message.add(attribute: 4, [2, 0, 0, 0])
        message.add(attribute: 7, [192, 0, 2, 10])
    }
}

/// A message of netlink(7) on its own.
private struct Message {
    private(set) var bytes: [UInt8]

    init(_ type: UInt8, _ write: (inout Message) -> Void) {
        bytes = [0, 0, 0, 0, type, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        write(&self)
        bytes[0] = UInt8(bytes.count)
    }

    mutating func add(_ more: [UInt8]) { bytes += more }

    mutating func add(attribute type: UInt8, _ value: [UInt8]) {
        bytes += [UInt8(4 + value.count), 0, type, 0] + value
        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
    }
}
