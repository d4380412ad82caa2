// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// Ports for programs that have to be told theirs.
///
/// They are below those that the kernel gives to whoever does not ask for one (ip_local_port_range, ip(7)): a port that
/// was free a moment ago would be somebody's connection by the time the program listens, and nginx then ends seconds
/// later.
package enum FreePort {
    private static let last = Locked(UInt16.random(in: 10_000..<25_000))

    /// A port of 127.0.0.1 that nobody has now, and that is given out once in this process.
    package static func take() throws -> UInt16 {
        for _ in 0..<1000 {
            let port = last.withLock { last in
                last = last < 30_000 ? last + 1 : 10_000
                return last
            }
            guard let (descriptor, _) = try? LoopbackSocket.listen(backlog: 1, port: port) else { continue }
            close(descriptor)
            return port
        }
        throw SetupFailure(activity: "finding a free port", errno: EADDRINUSE)
    }
}
