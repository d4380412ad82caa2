// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import UplinkCore

/// Room for the descriptors that libuv and libdispatch open at their first use. Where they find none, they end the
/// process.
enum DescriptorRoom {
    /// As many as the first context and those two need until a call has ended.
    private static let needed = 16
    private static let wasFound = Locked(false)

    /// Whether there is enough for the process's first context, at this moment; later ones are not asked for it.
    static var suffices: Bool {
        wasFound.withLock { wasFound in
            if !wasFound { wasFound = isFound() }
            return wasFound
        }
    }

    /// Takes them all for a moment.
    private static func isFound() -> Bool {
        var held: [CInt] = []
        defer { for descriptor in held { close(descriptor) } }
        while held.count < needed {
            let descriptor = uplink_eventfd()
            guard descriptor >= 0 else { return false }
            held.append(descriptor)
        }
        return true
    }
}
