// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc

/// A netlink socket of the routing family (rtnetlink(7)): one thin function per system call.
final class NetlinkSocket: NetlinkTransport {
    /// The kernel packs dumps into at most 32 KiB, and only if it has seen a read that large.
    private static let bufferSize = 64 * 1024

    let descriptor: CInt
    private var buffer = [UInt8](repeating: 0, count: bufferSize)
    private var count = 0

    /// Opens a socket, closed on exec.
    init(isBlocking: Bool) throws(NetlinkError) {
        let kind = CInt(SOCK_RAW.rawValue) | closeOnExec | (isBlocking ? 0 : nonBlocking)
        descriptor = socket(AF_NETLINK, kind, NETLINK_ROUTE)
        guard descriptor >= 0 else { throw NetlinkError(call: "socket(AF_NETLINK)", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Lets the kernel choose the socket's port.
    func bindToAnyPort() throws(NetlinkError) {
        var address = Self.address
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, Self.addressLength) }
        }
        guard status == 0 else { throw NetlinkError(call: "bind(AF_NETLINK)", errno: errno) }
    }

    /// The port that the kernel gave to the socket, for messages to it.
    var port: UInt32 {
        var (address, length) = (Self.address, Self.addressLength)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return address.nl_pid
    }

    /// Sets an option that is a number.
    func set(_ option: CInt, at level: CInt, to value: CInt) throws(NetlinkError) {
        var value = value
        guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size)) == 0 else {
            throw NetlinkError(call: "setsockopt(\(level), \(option))", errno: errno)
        }
    }

    /// Sets how long a blocking read waits.
    func setReceiveTimeout(seconds: Int) throws(NetlinkError) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        guard setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size)) == 0 else {
            throw NetlinkError(call: "setsockopt(SO_RCVTIMEO)", errno: errno)
        }
    }

    /// The number of messages that the kernel has dropped for lack of room since the socket was opened (`SO_MEMINFO`).
    func dropCount() throws(NetlinkError) -> UInt32? {
        let drops = 8  // SK_MEMINFO_DROPS
        var values = [UInt32](repeating: 0, count: drops + 1)
        var length = socklen_t(values.count * MemoryLayout<UInt32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &values, &length) == 0 else {
            throw NetlinkError(call: "getsockopt(SO_MEMINFO)", errno: errno)
        }
        return values[drops]
    }

    func attach(_ filter: RouteFilter) -> Bool { filter.attach(to: descriptor) }

    /// Sends a message to the kernel, which processes it before this returns.
    func send(_ message: [UInt8]) throws(NetlinkError) {
        var address = Self.address
        while true {
            let sent = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, message, message.count, 0, $0, Self.addressLength)
                }
            }
            if sent == message.count { return }
            guard sent < 0, errno == EINTR else { throw NetlinkError(call: "sendto(AF_NETLINK)", errno: errno) }
        }
    }

    /// Reads one datagram.
    func receive() throws(NetlinkError) -> NetlinkReceived {
        while true {
            var (sender, flags) = (Self.address, CInt(0))
            count = read(from: &sender, flags: &flags)
            if count >= 0 {
                guard sender.nl_pid == 0 else { return .foreign }
                return flags & CInt(MSG_TRUNC) == 0 ? .datagram : .truncated
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .empty
            case ENOBUFS: return .overrun
            default: throw NetlinkError(call: "recvmsg(AF_NETLINK)", errno: errno)
            }
        }
    }

    /// Calls `body` with the last datagram read.
    func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result {
        buffer.withUnsafeBytes { buffer in
            let bytes = buffer.bytes
            let datagram = bytes.extracting(0..<min(max(0, count), buffer.count))
            return body(datagram)
        }
    }

    private func read(from sender: inout sockaddr_nl, flags: inout CInt) -> Int {
        buffer.withUnsafeMutableBytes { buffer in
            var vector = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
            return withUnsafeMutablePointer(to: &sender) { sender in
                withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_name = UnsafeMutableRawPointer(sender)
                    message.msg_namelen = Self.addressLength
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    let count = recvmsg(descriptor, &message, 0)
                    flags = message.msg_flags
                    return count
                }
            }
        }
    }

    /// The kernel's own address: port 0, no groups.
    private static var address: sockaddr_nl {
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        return address
    }

    private static let addressLength = socklen_t(MemoryLayout<sockaddr_nl>.size)
}

private let closeOnExec = CInt(bitPattern: SOCK_CLOEXEC.rawValue)
private let nonBlocking = CInt(bitPattern: SOCK_NONBLOCK.rawValue)
