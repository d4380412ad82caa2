// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The packets that the kernel is asked about: where they go, and what a socket's options make of them.
struct Flow: Hashable {
    var destination: IPAddress
    /// The interface that the socket is bound to (`SO_BINDTODEVICE`), or that a link-local destination is on.
    var interface: UInt32?
    /// The firewall mark (`SO_MARK`).
    var mark: UInt32?
    /// The user whose socket it is; nil for this process's.
    var user: UInt32?
    /// The source address that a socket has got; nil where the kernel has still to choose one.
    var source: IPAddress?

    /// The same packets from a socket that is bound to an interface.
    func through(_ interface: UInt32) -> Self {
        var flow = self
        flow.interface = interface
        return flow
    }

    /// The same packets from a socket that has got its source address.
    func from(_ source: IPAddress) -> Self {
        var flow = self
        flow.source = source
        return flow
    }

    /// The user that the kernel has to be told. Of a question that names nobody it takes the real user for the one who
    /// asks; a socket is the effective user's.
    func userToName(real: UInt32 = getuid(), effective: UInt32 = geteuid()) -> UInt32? {
        user ?? (effective == real ? nil : effective)
    }
}
