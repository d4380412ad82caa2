// SPDX-License-Identifier: Apache-2.0

/// What carries netlink's datagrams: a socket, or a recording of one.
///
/// The seam of the kernel's side. Everything above it (``EventSocket``, ``NetlinkQuery``, ``KernelNetwork``) works on
/// bytes alone, so that a stand-in can play back what a kernel once said, whole or damaged.
package protocol NetlinkTransport: AnyObject {
    /// Takes a message to the kernel; the answer is there to be received when this returns.
    func send(_ message: [UInt8]) throws(NetlinkError)

    /// Reads the next datagram.
    func receive() throws(NetlinkError) -> NetlinkReceived

    /// Shows the datagram that was read last.
    func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result

    /// How many datagrams have been dropped for want of room since the start; nil where that is not counted.
    func dropCount() throws(NetlinkError) -> UInt32?

    /// Lets only those events through that a filter wants, from now on; whether that could be had.
    func attach(_ filter: RouteFilter) -> Bool
}

extension NetlinkTransport {
    /// A recording drops nothing that it could count.
    package func dropCount() throws(NetlinkError) -> UInt32? { nil }

    /// A recording filters nothing, which is harmless: what does not matter is ignored once more above.
    package func attach(_ filter: RouteFilter) -> Bool { false }
}

/// What one read of netlink brought.
package enum NetlinkReceived: Equatable {
    /// A datagram from the kernel; `withDatagram` shows it until the next read.
    case datagram
    /// A datagram that was longer than the buffer, so that part of it is lost.
    case truncated
    /// A datagram that some process sent. Any that runs as root can; it is not to be believed.
    case foreign
    /// Nothing is there (on a blocking socket: nothing came in time).
    case empty
    /// The kernel had to drop messages, and says so once.
    case overrun
}
