// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The process's threads, as the kernel knows them.
package enum Threads {
    /// How many have this name.
    package static func count(named name: String) -> Int { all(named: name).count }

    /// What those with this name have used of the processor.
    package static func time(named name: String) -> Duration {
        let times = all(named: name).map { thread in
            contents("/proc/self/task/\(thread)/schedstat").split(separator: " ").first.flatMap { Int($0) } ?? 0
        }
        return .nanoseconds(times.reduce(0, +))
    }

    private static func all(named name: String) -> [String] {
        guard let directory = opendir("/proc/self/task") else { return [] }
        defer { closedir(directory) }
        var threads: [String] = []
        while let entry = readdir(directory) {
            let thread = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if contents("/proc/self/task/\(thread)/comm") == "\(name)\n" { threads.append(thread) }
        }
        return threads
    }

    private static func contents(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
