// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// A TUN interface in a loop's network namespace, which is gone when it is closed, like that of a VPN's process.
struct Tunnel {
    struct NotAvailable: Error {}

    private let descriptor: CInt

    init(named name: String, on loop: EventLoop) async throws {
        descriptor = try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: Result { try Self.open(name) }) }
        }
    }

    func close() { Glibc.close(descriptor) }

    private static func open(_ name: String) throws -> CInt {
        let descriptor = Glibc.open("/dev/net/tun", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw NotAvailable() }
        var request = [UInt8](repeating: 0, count: 40)  // struct ifreq
        request.replaceSubrange(0..<name.utf8.count, with: name.utf8)
        request[16] = 0x01  // IFF_TUN
        request[17] = 0x10  // IFF_NO_PI
        guard ioctl(descriptor, 0x4004_54CA, &request) == 0 else {  // TUNSETIFF
            Glibc.close(descriptor)
            throw NotAvailable()
        }
        return descriptor
    }
}
