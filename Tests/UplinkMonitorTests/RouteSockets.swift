// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The rtnetlink sockets of processes in the calling thread's network namespace.
enum RouteSockets {
    /// Their ports. The list may miss one while other namespaces' sockets come and go.
    static var ports: [UInt32] {
        guard let file = fopen("/proc/thread-self/net/netlink", "re") else { return [] }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = fread(&buffer, 1, buffer.count, file)
        let text = String(decoding: buffer.prefix(count), as: UTF8.self)
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[1] == "0", fields[2] != "0" else { return nil }  // 0: the kernel's own
            return UInt32(fields[2])
        }
    }
}
