// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A port that answers no SYN: its backlog is full, so that connecting to it hangs, without any packet leaving the
/// host.
package final class Blackhole: Sendable {
    package let port: UInt16
    private let descriptors: [CInt]

    /// - Parameters:
    ///   - address: An address of the loopback network.
    ///   - port: The port, or zero for a free one.
    package init(address: String = "127.0.0.1", port: UInt16 = 0) throws {
        let (listener, port) = try LoopbackSocket.listen(backlog: 0, address: address, port: port)
        var all = [listener]
        for _ in 0..<4 {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = inet_addr(address)
            withUnsafePointer(to: &name) { name in
                name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    _ = connect(descriptor, name, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            all.append(descriptor)
        }
        (self.port, descriptors) = (port, all)
    }

    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    package func stop() { for descriptor in descriptors { close(descriptor) } }
}
