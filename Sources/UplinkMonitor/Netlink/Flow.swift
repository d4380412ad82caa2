// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The packets that the kernel is asked about: where they go, and the socket options that affect them.
struct Flow: Hashable {
    var destination: IPAddress
    /// The interface that the socket is bound to (`SO_BINDTODEVICE`), or that a link-local destination is on.
    var interface: UInt32?
    /// The firewall mark (`SO_MARK`).
    var mark: UInt32?
    /// The user who owns the socket; nil for this process's.
    var user: UInt32?
    /// The source address that a socket has; nil if the kernel has yet to choose one.
    var source: IPAddress?
    /// What the packets carry, which policy rules may select by (`ipproto`).
    var transport = Transport.tcp

    /// A transport protocol, by its number (protocols(5)).
    enum Transport: UInt8 {
        case tcp = 6
        case udp = 17
    }

    /// The same packets from a socket bound to an interface.
    func through(_ interface: UInt32) -> Self {
        var flow = self
        flow.interface = interface
        return flow
    }

    /// The same packets from a socket that has its source address.
    func from(_ source: IPAddress) -> Self {
        var flow = self
        flow.source = source
        return flow
    }

    /// The user to tell the kernel. If a question names no user, the kernel assumes the real user; a socket, however,
    /// belongs to the effective user.
    func userToName(real: UInt32 = getuid(), effective: UInt32 = geteuid()) -> UInt32? {
        user ?? (effective == real ? nil : effective)
    }
}
