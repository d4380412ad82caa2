// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkTesting

/// Runs `body` with a client and a server in a namespace where the system's name server is a silent socket of the test.
///
/// - Parameter limit: How many transfers run at once.
func withSilentResolver(
    limit: Int = 128, _ body: (HTTPClient, CurlTransport, RawServer) async throws -> Void
) async throws {
    let nameServer = try #require(SilentResolver.nameServer, "no IPv4 name server in /etc/resolv.conf")
    try await withNetworkNamespaces { namespace, _ in
        try namespace.ip("link set lo up")
        try namespace.ip("addr add \(nameServer)/32 dev lo")
        try await withEventLoop(networkNamespace: namespace.name) { loop in
            // On the loop's thread, because sockets and threads made there belong to the namespace.
            let (sink, server) = try await SilentResolver.onLoop(loop) {
                (
                    try SilentResolver.silentSocket(at: nameServer),
                    try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop])
                )
            }
            defer {
                server.stop()
                close(sink)
            }
            var configuration = CurlTransport.Configuration()
            configuration.maximumConcurrentTransfersPerHost = 128
            configuration.maximumConcurrentTransfers = limit
            let transport = try CurlTransport(on: loop, configuration: configuration)
            try await body(HTTPClient(transport: transport), transport, server)
            await transport.shutdown()
        }
    }
}

private enum SilentResolver {
    /// The name server that `getaddrinfo` asks, if it is one that a loopback interface can take over.
    static let nameServer: String? = {
        guard let file = fopen("/etc/resolv.conf", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            guard words.first == "nameserver", words.count > 1 else { continue }
            let address = IPAddress(String(words[1]))
            if let address, address.family == .ipv4 { return address.description }
        }
        return nil
    }()

    static func onLoop<Result: Sendable>(
        _ loop: EventLoop, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: .init(catching: work)) }
        }
    }

    static func silentSocket(at address: String) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(53).bigEndian
        name.sin_addr.s_addr = inet_addr(address)
        let status = withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw SetupFailure(activity: "binding \(address):53", errno: errno) }
        return descriptor
    }
}
