// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkHTTP

/// What the kernel knows of a connection.
extension SendingProgress {
    /// Reads it for one of TCP (`TCP_INFO`, tcp(7)); nil if the socket is none. The C library's `struct tcp_info` ends
    /// before these fields (linux/tcp.h).
    init?(ofConnection descriptor: curl_socket_t) {
        let (unacknowledged, acknowledged, notSent) = (24, 120, 144)
        let information: [UInt8] = Array(unsafeUninitializedCapacity: 256) { buffer, count in
            var length = socklen_t(buffer.count)
            let status = getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, buffer.baseAddress, &length)
            count = status == 0 ? Int(length) : 0
        }
        guard information.count >= notSent + 4 else { return nil }
        self = information.withUnsafeBytes {
            let isWhole =
                $0.loadUnaligned(fromByteOffset: unacknowledged, as: UInt32.self) == 0
                && $0.loadUnaligned(fromByteOffset: notSent, as: UInt32.self) == 0
            return Self(
                acknowledged: $0.loadUnaligned(fromByteOffset: acknowledged, as: UInt64.self), isWhole: isWhole)
        }
    }

    /// Reads it for one of the file system: not how much the peer has read, but what it has not (SIOCOUTQ, unix(7)).
    /// One changes with the other, and only the change matters.
    init?(ofUnixSocket descriptor: curl_socket_t) {
        var unread: CInt = 0
        guard ioctl(descriptor, UInt(TIOCOUTQ), &unread) == 0 else { return nil }
        self.init(acknowledged: .max - UInt64(unread), isWhole: unread == 0)
    }
}
