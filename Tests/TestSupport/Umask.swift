// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// The process's umask.
package enum Umask {
    /// The umask now. The kernel tells it (proc(5)), because umask(2) can only be asked by setting it, for all threads.
    package static func current() throws -> UInt32 {
        let status = String(decoding: try TemporaryDirectory.read("/proc/self/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        guard let mask = line.flatMap({ UInt32($0.dropFirst(6).drop { $0.isWhitespace }, radix: 8) }) else {
            throw SetupFailure(activity: "reading the umask in /proc/self/status", errno: 0)
        }
        return mask
    }
}
