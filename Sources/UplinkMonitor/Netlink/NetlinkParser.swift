// SPDX-License-Identifier: Apache-2.0
import CNetlink
import UplinkCore

/// The header of a netlink message (`struct nlmsghdr`).
struct NetlinkHeader: Equatable {
    static let size = 16

    var length: UInt32
    var type: UInt16
    var flags: UInt16
    var sequence: UInt32
    var port: UInt32
}

/// Parses bytes into messages and attributes, without copying and without ever reading beyond the bytes.
enum NetlinkParser {
    /// Calls `body` for every message in a datagram, with its header and what follows it.
    ///
    /// - Returns: Whether the datagram was well formed to its end. `body` has seen everything before a fault.
    @discardableResult
    static func forEachMessage(in datagram: RawSpan, _ body: (NetlinkHeader, RawSpan) -> Void) -> Bool {
        var offset = 0
        while offset < datagram.byteCount {
            guard let header = NetlinkHeader(datagram, at: offset) else { return false }
            let (length, remaining) = (Int(header.length), datagram.byteCount - offset)
            guard length >= NetlinkHeader.size, length <= remaining else { return false }
            body(header, datagram.extracting(offset + NetlinkHeader.size..<offset + length))
            offset += min(aligned(length), remaining)
        }
        return true
    }

    /// Calls `body` for every attribute (`struct nlattr`) that follows the first `start` bytes of a payload.
    ///
    /// - Returns: Whether the attributes were well formed to their end.
    @discardableResult
    static func forEachAttribute(in payload: RawSpan, after start: Int, _ body: (Int, RawSpan) -> Void) -> Bool {
        var offset = start
        while offset < payload.byteCount {
            let remaining = payload.byteCount - offset
            guard let length = payload.integer(at: offset, as: UInt16.self).map(Int.init),
                let type = payload.integer(at: offset + 2, as: UInt16.self),
                length >= 4, length <= remaining
            else { return false }
            body(Int(type & 0x3FFF), payload.extracting(offset + 4..<offset + length))  // NLA_TYPE_MASK
            offset += min(aligned(length), remaining)
        }
        return true
    }

    /// Netlink pads everything to four bytes.
    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension NetlinkHeader {
    init?(_ bytes: RawSpan, at offset: Int) {
        guard let length = bytes.integer(at: offset, as: UInt32.self),
            let type = bytes.integer(at: offset + 4, as: UInt16.self),
            let flags = bytes.integer(at: offset + 6, as: UInt16.self),
            let sequence = bytes.integer(at: offset + 8, as: UInt32.self),
            let port = bytes.integer(at: offset + 12, as: UInt32.self)
        else { return nil }
        self.init(length: length, type: type, flags: flags, sequence: sequence, port: port)
    }
}

extension RawSpan {
    /// A number in the host's byte order, or nil if the bytes end before it does.
    func integer<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Number>.size else { return nil }
        return unsafeLoadUnaligned(fromByteOffset: offset, as: type)
    }

    /// An address of a family, or nil if the length is not that of the family.
    func address(of family: IPAddress.Family) -> IPAddress? {
        switch family {
        case .ipv4:
            guard byteCount == 4, let number = integer(at: 0, as: UInt32.self) else { return nil }
            return IPAddress(ipv4: UInt32(bigEndian: number))
        case .ipv6:
            guard byteCount == 16, let high = integer(at: 0, as: UInt64.self), let low = integer(at: 8, as: UInt64.self)
            else { return nil }
            return IPAddress(ipv6: UInt64(bigEndian: high), UInt64(bigEndian: low))
        }
    }

    /// The text up to a zero byte or the end.
    var text: String {
        withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
