// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// A TUN or TAP interface in a loop's network namespace, which is gone when it is closed, like that of a VPN's process.
struct Tunnel {
    struct NotAvailable: Error {}

    private let descriptor: CInt

    enum Layer: UInt8 {
        case network = 0x01  // IFF_TUN
        case link = 0x02  // IFF_TAP
    }

    init(named name: String, _ layer: Layer = .network, on loop: EventLoop) async throws {
        descriptor = try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: Result { try Self.open(name, layer) }) }
        }
    }

    func close() { Glibc.close(descriptor) }

    private static func open(_ name: String, _ layer: Layer) throws -> CInt {
        let descriptor = Glibc.open("/dev/net/tun", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw NotAvailable() }
        var request = [UInt8](repeating: 0, count: 40)  // struct ifreq
        request.replaceSubrange(0..<name.utf8.count, with: name.utf8)
        request[16] = layer.rawValue
        request[17] = 0x10  // IFF_NO_PI
        guard ioctl(descriptor, 0x4004_54CA, &request) == 0 else {  // TUNSETIFF
            Glibc.close(descriptor)
            throw NotAvailable()
        }
        return descriptor
    }
}
