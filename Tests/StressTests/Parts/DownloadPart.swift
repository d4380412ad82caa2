// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Uplink
import UplinkTesting

/// Downloads on the device, whose network comes and goes, from a server behind the router that misbehaves: the file is
/// whole, or it is not there.
struct DownloadPart: StormPart {
    let name = "downloads"
    let kinds = ["value", "deadlineExceeded", "cancelled"]

    /// Where the servers are; the router has the address on its loopback.
    static let address = "203.0.113.1"

    private let content: [UInt8] = {
        var random = SeededGenerator(seed: 1)
        return (0..<60_000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }()

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await withEventLoop(networkNamespace: scene.network.router.path) { far in
            let server = try await far.making { [content] in try FileServer(content, address: "0.0.0.0") }
            defer { server.stop() }
            for _ in 0..<Int.random(in: 0..<12, using: &random) { server.next(Self.conduct(&random)) }
            try await downloads(from: server, to: directory, scene, record, &random)
        }
    }

    private func downloads(
        from server: FileServer, to directory: TemporaryDirectory, _ scene: StormScene, _ record: StormRecord,
        _ random: inout SeededGenerator
    ) async throws {
        try await withEventLoop(networkNamespace: scene.network.device.path) { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            var transport = CurlTransport.Configuration()
            transport.networkChanges = monitor.changes
            var configuration = HTTPClient.Configuration()
            configuration.timeouts = HTTPTimeouts(
                connect: .seconds(1), firstByte: .milliseconds(300), stall: .milliseconds(300))
            try await withHTTPClient(on: loop, configuration: configuration, transport: transport) { client in
                var options = DownloadOptions(monitor: monitor, clock: LoopClock(on: loop))
                options.backOff.initialPause = .milliseconds(5)
                options.backOff.maximumPause = .milliseconds(50)
                options.maximumRestarts = 1000
                await withDiscardingTaskGroup { group in
                    for number in 0..<6 {
                        let (start, options) = (random.fork(), options)
                        group.addTask {
                            var random = start
                            await download("f\(number)", client, server, directory, options, record, &random)
                        }
                    }
                }
            }
            monitor.stop()
        }
    }

    private func download(
        _ name: String, _ client: HTTPClient, _ server: FileServer, _ directory: TemporaryDirectory,
        _ options: DownloadOptions, _ record: StormRecord, _ random: inout SeededGenerator
    ) async {
        let limit = Duration.milliseconds(Int.random(in: 1..<5000, using: &random))
        let delay = Duration.milliseconds(Int.random(in: 0..<150, using: &random))
        let isCancelled = random.oneIn(4)
        record.begin()
        let download = client.startDownload(
            server.url("/\(name)", host: Self.address), to: directory.path.appending(name), within: limit,
            options: options)
        let watching = Task { for await _ in download.progress {} }
        if isCancelled {
            try? await Task.sleep(for: delay)
            download.cancel()
        }
        var isThere = false
        do {
            _ = try await download.value
            isThere = true
            record.end("value")
        } catch is CancellationError {
            record.end("cancelled")
        } catch let error as DownloadError {
            record.end("\(error.code)")
            record.expect(error.code == .deadlineExceeded, "a download failed with \(error)")
        } catch {
            record.end("unexpected")
            record.broken("a download failed with \(error)")
        }
        await watching.value
        let bytes = try? directory.read(name)
        record.expect(isThere ? bytes == content : bytes == nil, "\(bytes?.count ?? -1) bytes, success: \(isThere)")
    }

    private static func conduct(_ random: inout SeededGenerator) -> FileServer.Conduct {
        let count = Int.random(in: 0..<60_000, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .cut(after: count)
        case 1: return .cut(after: count, reset: true)
        case 2: return .hold(after: count)
        case 3: return .slow(piece: 5000, pause: .milliseconds(2))
        case 4: return .ignoringRange
        case 5: return .raw("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        default: return .lying { $0.replacing("Content-Range: bytes ", with: "Content-Range: bytes 1") }
        }
    }
}

extension EventLoop {
    /// Makes something on the loop's thread, as sockets that belong to its network.
    func making<Result: Sendable>(_ make: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            execute { continuation.resume(with: Swift.Result(catching: make)) }
        }
    }
}
