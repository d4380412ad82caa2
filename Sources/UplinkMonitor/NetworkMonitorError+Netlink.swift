// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

extension NetworkMonitorError {
    /// The kernel's socket could not be opened, with what to do about it.
    static func unavailable(_ error: NetlinkError) -> Self {
        let remedy =
            switch error.errno {
            case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
            case _ where error.isRefusal:
                "a sandbox (seccomp, gVisor, SELinux) forbids rtnetlink; allow socket(AF_NETLINK, …, NETLINK_ROUTE),"
                    + " for systemd units RestrictAddressFamilies=AF_NETLINK; or let the monitor poll (whenUnavailable),"
                    + " which takes no mark, uid or outputInterface"
            default: "the system is short of memory, or its kernel has no rtnetlink"
            }
        let message = "the network cannot be watched: \(error); \(remedy)"
        return Self(.unavailable, message: message, underlyingError: error)
    }

    /// The loop could not provide what is needed.
    static func unavailable(_ error: any Error) -> Self {
        Self(.unavailable, message: "the network cannot be watched: \(error)", underlyingError: error)
    }

    static let loopEnded = Self(
        .failed,
        message: "the network can no longer be watched: the monitor's event loop has ended; iterate within its scope")

    /// A socket that worked no longer does.
    static func failed(_ error: NetlinkError) -> Self {
        let message = "the network can no longer be watched: \(error); iterate over `paths` again to start anew"
        return Self(.failed, message: message, underlyingError: error)
    }
}
