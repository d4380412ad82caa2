// SPDX-License-Identifier: Apache-2.0
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

    /// The same packets from a socket that is bound to an interface.
    func through(_ interface: UInt32) -> Self {
        var flow = self
        flow.interface = interface
        return flow
    }
}
