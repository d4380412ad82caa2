// SPDX-License-Identifier: Apache-2.0
public import UplinkCore
public import UplinkEventLoop

extension ValidationProbe {
    /// A probe that connects to a TCP port and immediately closes the connection, for networks without a web, or a
    /// server of your own.
    ///
    /// It cannot detect a captive portal, which may accept any connection.
    ///
    /// - Parameters:
    ///   - host: A name, whose first address of each family is tried, or an address, which validates only its own
    ///     family.
    ///   - port: The port.
    ///   - loop: The loop to connect on; the network namespace of its thread should be the monitor's.
    public static func tcpConnect(to host: String, port: UInt16, on loop: EventLoop = .shared) -> Self {
        Self { family, _ in
            do {
                let address = try await HostLookup.address(of: host, family, on: loop)
                try await TCPConnection.attempt(to: address, port: port, on: loop)
                return .validated(at: .now)
            } catch {
                return .failed("\(host) port \(port): \(error)")
            }
        }
    }
}
