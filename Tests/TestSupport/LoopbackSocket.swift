// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkCore

/// Sockets of the loopback network, for servers that are written by hand.
package enum LoopbackSocket {
    /// A listening socket on a free port of 127.0.0.1, or of another address of the loopback network.
    package static func listen(backlog: CInt, address: String = "127.0.0.1", port: UInt16 = 0) throws -> (CInt, UInt16)
    {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SetupFailure(activity: "socket", errno: errno) }
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = inet_addr(address)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard bind(descriptor, name, size) == 0, Glibc.listen(descriptor, backlog) == 0 else { return errno }
                return getsockname(descriptor, name, &size) == 0 ? 0 : errno
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw SetupFailure(activity: "listen on \(address):\(port)", errno: status)
        }
        return (descriptor, UInt16(bigEndian: name.sin_port))
    }

    /// Connects to a server on 127.0.0.1; nil if there is none.
    static func connect(to port: UInt16) -> CInt? {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard let loopback = IPAddress("127.0.0.1") else { return nil }
        var name = SocketAddress(loopback, port: port)
        guard name.withSockaddr({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// A listening socket in the file system.
    static func listen(at path: FilePath) throws -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        path.withPlatformString { text in
            withUnsafeMutableBytes(of: &name.sun_path) {
                $0.copyBytes(from: UnsafeRawBufferPointer(start: text, count: path.length))
            }
        }
        let status = withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, Glibc.listen(descriptor, 128) == 0 else {
            close(descriptor)
            throw SetupFailure(activity: "listen at \(path)", errno: errno)
        }
        return descriptor
    }

    /// Sends everything; whether it was taken.
    @discardableResult
    static func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
