// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

/// Room for the descriptors that libuv and libdispatch open at their first use, and libdispatch for a moment later.
/// Where they find none, they end the process.
package enum DescriptorRoom {
    /// As many as the process's first loop, those two, and what a context of the C library opens beside its loop need.
    private static let needed = 16
    private static let wasFound = Locked(false)

    /// How many we leave to others.
    private static let reserve = 8

    /// Whether a descriptor that was opened is one of the last that the process can have.
    package static func isOneOfTheLast(_ descriptor: CInt) -> Bool {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
            && rlim_t(descriptor) + rlim_t(reserve) >= limit.rlim_cur
    }

    /// Refuses the process's first loop if there is not enough at this moment; later ones have their own errors.
    static func check() throws(EventLoopError) {
        try wasFound.withLock { wasFound throws(EventLoopError) in
            if !wasFound { try takeAll() }
            wasFound = true
        }
    }

    /// Takes them all for a moment.
    private static func takeAll() throws(EventLoopError) {
        var held: [CInt] = []
        defer { for descriptor in held { close(descriptor) } }
        while held.count < needed {
            let descriptor = eventfd(0, uplink_eventfd_flags)
            guard descriptor >= 0 else {
                throw EventLoopError(.system, during: "starting an event loop", errno: errno)
            }
            held.append(descriptor)
        }
    }
}
