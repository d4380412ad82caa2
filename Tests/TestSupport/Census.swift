// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many descriptors and threads the process has.
package struct Census {
    package let descriptors = Self.entries(of: "/proc/self/fd")
    package let threads = Self.entries(of: "/proc/self/task")

    package init() {}

    /// The memory that the process has now.
    package static var residentBytes: Int {
        guard let file = fopen("/proc/self/statm", "re") else { return 0 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 128)
        guard fgets(&text, 128, file) != nil else { return 0 }
        let words = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
            separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }

    private static func entries(of path: String) -> Int {
        guard let directory = opendir(path) else { return -1 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
