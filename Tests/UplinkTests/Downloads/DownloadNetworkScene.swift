// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkMonitor
import UplinkTesting

@testable import Uplink

/// A download over a network that really comes and goes: client and monitor on the device, a server on the router, at
/// an address that is behind its gateways.
struct DownloadNetworkScene {
    let network: TestNetwork
    let server: FileServer
    let client: HTTPClient
    let monitor: LinuxNetworkMonitor
    let directory: TemporaryDirectory
    private let far: EventLoop

    static let serverAddress = "203.0.113.1"

    var url: String { server.url(host: Self.serverAddress) }
    var target: FilePath { directory.path.appending("f") }

    static func with(
        _ content: [UInt8], _ conduct: [FileServer.Conduct] = [], timeouts: HTTPTimeouts = .init(),
        _ change: (inout CurlTransport.Configuration) -> Void = { _ in },
        _ body: (DownloadNetworkScene) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await withTestNetwork { network in
            try network.router.ip("addr add \(serverAddress)/32 dev lo")
            try await withEventLoop(networkNamespace: network.router.path) { far in
                let server = try await on(far) { try FileServer(content, address: "0.0.0.0") }
                for conduct in conduct { server.next(conduct) }
                defer { server.stop() }
                try await withEventLoop(networkNamespace: network.device.path) { loop in
                    let monitor = LinuxNetworkMonitor(on: loop)
                    var transport = CurlTransport.Configuration()
                    transport.networkChanges = monitor.changes
                    change(&transport)
                    var configuration = HTTPClient.Configuration()
                    configuration.timeouts = timeouts
                    try await withHTTPClient(on: loop, configuration: configuration, transport: transport) { client in
                        try await body(
                            DownloadNetworkScene(
                                network: network, server: server, client: client, monitor: monitor,
                                directory: directory, far: far))
                    }
                    monitor.stop()
                }
            }
        }
    }

    var options: DownloadOptions {
        var options = DownloadOptions()
        options.monitor = monitor
        options.backOff.initialPause = .milliseconds(20)
        options.backOff.maximumPause = .milliseconds(200)
        return options
    }

    func start(within limit: Duration = .seconds(90), _ change: (inout DownloadOptions) -> Void = { _ in }) -> Download
    {
        var options = options
        change(&options)
        return client.startDownload(url, to: target, within: limit, options: options)
    }

    /// Starts the server again, in its network.
    func startServer() async throws {
        let server = server
        try await Self.on(far) { try server.start() }
    }

    /// Runs what makes sockets on a loop's thread, because they belong to its network then.
    private static func on<Result: Sendable>(
        _ loop: EventLoop, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
