// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many descriptors and threads the process has.
package struct Census {
    package let descriptors = Self.entries(of: "/proc/self/fd")
    package let threads = Self.entries(of: "/proc/self/task")

    package init() {}

    private static func entries(of path: String) -> Int {
        guard let directory = opendir(path) else { return -1 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
