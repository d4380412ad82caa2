// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

@testable import UplinkMonitor

// Messages as the kernel writes them, made by hand, for tests without a kernel.

/// Bytes that are put together like a netlink message.
struct Bytes {
    var bytes: [UInt8] = []

    mutating func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }

    mutating func add(attribute type: Int, _ value: [UInt8]) {
        add(UInt16(4 + value.count))
        add(UInt16(type))
        bytes += value
        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
    }

    mutating func add(attribute type: Int, _ number: some FixedWidthInteger) {
        add(attribute: type, withUnsafeBytes(of: number) { Array($0) })
    }
}

/// A message with its header.
func message(_ type: Int, sequence: UInt32 = 0, flags: UInt16 = 0, _ payload: [UInt8]) -> [UInt8] {
    var message = Bytes()
    message.add(UInt32(16 + payload.count))
    message.add(UInt16(type))
    message.add(flags)
    message.add(sequence)
    message.add(UInt32(0))
    message.bytes += payload
    while !message.bytes.count.isMultiple(of: 4) { message.bytes.append(0) }
    return message.bytes
}

func linkPayload(
    index: UInt32 = 40, name: String = "eth0", family: UInt8 = 0, flags: UInt32 = 0x1_1043,
    change: UInt32 = 0xFFFF_FFFF,
    _ more: (inout Bytes) -> Void = { _ in }
) -> [UInt8] {
    var payload = Bytes(bytes: [family, 0])
    payload.add(UInt16(1))
    payload.add(index)
    payload.add(flags)
    payload.add(change)
    payload.add(attribute: Wire.linkName, Array(name.utf8) + [0])
    payload.add(attribute: Wire.linkMTU, UInt32(1500))
    payload.add(attribute: Wire.linkState, UInt8(6))
    more(&payload)
    return payload.bytes
}

func addressPayload(
    _ local: String, family: Int32 = AF_INET, flags: UInt8 = 0, index: UInt32 = 40,
    _ more: (inout Bytes) -> Void = { _ in }
) -> [UInt8] {
    var payload = Bytes(bytes: [UInt8(family), 24, flags, 0])
    payload.add(index)
    payload.add(attribute: family == AF_INET ? Wire.localAddress : Wire.address, IPAddress(local)?.bytes ?? [])
    more(&payload)
    return payload.bytes
}

func routePayload(
    family: Int32 = AF_INET, prefixLength: UInt8 = 0, type: Int = Wire.unicast,
    _ more: (inout Bytes) -> Void = { _ in }
) -> [UInt8] {
    var payload = Bytes(bytes: [UInt8(family), prefixLength, 0, 0, 254, 3, 0, UInt8(type)])
    payload.add(UInt32(0))
    more(&payload)
    return payload.bytes
}

func neighbourPayload(
    _ address: String, family: Int32? = nil, state: UInt16, isRouter: Bool = false, index: UInt32 = 40,
    _ more: (inout Bytes) -> Void = { _ in }
) -> [UInt8] {
    let address = IPAddress(address)
    var payload = Bytes(bytes: [UInt8(family ?? (address?.family == .ipv6 ? AF_INET6 : AF_INET)), 0, 0, 0])
    payload.add(index)
    payload.add(state)
    payload.add(UInt16(isRouter ? 0x180 : 0x100))  // flags and type
    more(&payload)
    payload.add(attribute: Wire.neighbourAddress, address?.bytes ?? [])
    return payload.bytes
}

/// The events that a datagram brings.
func events(in datagram: [UInt8]) -> (events: [EventSocket.Event], isWellFormed: Bool) {
    var events: [EventSocket.Event] = []
    let isWellFormed = datagram.withUnsafeBytes { bytes in
        NetlinkParser.forEachMessage(in: bytes.bytes) { header, payload in
            if let event = EventSocket.event(header, payload) { events.append(event) }
        }
    }
    return (events, isWellFormed)
}
