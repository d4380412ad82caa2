// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Room for the descriptors that libuv and libdispatch open at their first use. Where they find none, they end the
/// process.
enum DescriptorRoom {
    /// As many as a context and those two need until a call has ended.
    private static let needed = 16

    /// Whether there is enough at this moment; other threads may take it.
    static var suffices: Bool {
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
