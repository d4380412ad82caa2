// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Settings of the kernel (sysctl(8)); those of the network belong to the calling thread's network namespace.
enum Sysctl {
    /// Whether a numeric setting exists and is not zero.
    ///
    /// - Parameter name: The name with slashes, as in `net/ipv6/conf/all/forwarding`.
    static func isSet(_ name: String) -> Bool {
        let descriptor = open("/proc/sys/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var digit: UInt8 = 0
        return read(descriptor, &digit, 1) == 1 && digit != UInt8(ascii: "0")
    }
}
