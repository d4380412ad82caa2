// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel says about the process's memory, in bytes.
package enum Memory {
    package static var resident: Int { field("VmRSS:") }
    package static var peak: Int { field("VmHWM:") }

    /// Makes the peak count from now; false where the kernel does not let us.
    package static func resetPeak() -> Bool {
        let descriptor = open("/proc/self/clear_refs", O_WRONLY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return write(descriptor, "5", 1) == 1
    }

    private static func field(_ name: String) -> Int {
        let descriptor = open("/proc/self/status", O_RDONLY)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
