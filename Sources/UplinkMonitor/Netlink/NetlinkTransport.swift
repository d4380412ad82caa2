// SPDX-License-Identifier: Apache-2.0

/// The transport of netlink's datagrams: a socket, or a recording of one.
///
/// The interface to the kernel's side. Everything above it (``EventSocket``, ``NetlinkQuery``, ``KernelNetwork``) only
/// works on bytes, so that a stand-in can play back what a kernel once said, intact or damaged.
package protocol NetlinkTransport: AnyObject {
    /// Sends a message to the kernel; the answer can be received when this returns.
    func send(_ message: [UInt8]) throws(NetlinkError)

    /// Reads the next datagram.
    func receive() throws(NetlinkError) -> NetlinkReceived

    /// Calls `body` with the last datagram read.
    func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result

    /// The number of datagrams dropped for lack of room since the start; nil if they are not counted.
    func dropCount() throws(NetlinkError) -> UInt32?

    /// From now on lets only those events through that a filter wants; returns whether this is supported.
    func attach(_ filter: RouteFilter) -> Bool
}

extension NetlinkTransport {
    /// A recording drops nothing that it could count.
    package func dropCount() throws(NetlinkError) -> UInt32? { nil }

    /// A recording filters nothing, which is harmless: irrelevant events are also ignored later.
    package func attach(_ filter: RouteFilter) -> Bool { false }
}

/// The result of one read of netlink.
package enum NetlinkReceived: Equatable {
    /// A datagram from the kernel; `withDatagram` shows it until the next read.
    case datagram
    /// A datagram longer than the buffer, so that part of it is lost.
    case truncated
    /// A datagram that another process sent. Any process that runs as root can do so; it must not be trusted.
    case foreign
    /// Nothing is there (on a blocking socket: nothing arrived in time).
    case empty
    /// The kernel had to drop messages, and reports it once.
    case overrun
}
