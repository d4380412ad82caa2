// SPDX-License-Identifier: Apache-2.0
import Uplink

// The examples in the comments of public symbols, except those of the test kit and the store.

private func load(timeout: Duration?) async throws {}
private func myServerAnswers(over family: IPAddress.Family) async -> Bool { true }
private func timestamp() -> String { "0" }
private struct Logger: Sendable { func info(_ line: String) { print(line) } }

// MARK: UplinkCore

final class AlwaysOnline: NetworkMonitor {
    private let broadcaster = NetworkPathBroadcaster(keepsPath: true)  // it never changes
    var currentPath: NetworkPath? { broadcaster.currentPath }
    var paths: NetworkPaths { broadcaster.paths }
    init() { broadcaster.send(NetworkPath(status: .satisfied, scope: .global)) }
}

func probeOfOneOwn() -> ValidationProbe {
    let probe = ValidationProbe { family, path in
        await myServerAnswers(over: family) ? .validated(at: .now) : .failed("my server does not answer")
    }
    return probe
}

func deadlineInside(_ performer: NetworkOperationPerformer) async throws {
    try await performer.perform(completingWithin: .seconds(10)) {
        try await load(timeout: OperationDeadline.current?.remaining)
    }
}

// MARK: UplinkMonitor

func destination(_ monitor: LinuxNetworkMonitor) async throws {
    let router = try monitor.destination("192.0.2.77")  // may well be satisfied without an internet
    for try await path in router.paths { print(path) }
}

// MARK: UplinkEventLoop

actor Connections {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var timers: LoopTimers?

    init(on loop: EventLoop) { self.loop = loop }

    func open() throws {
        let timers = try timers ?? LoopTimers(on: loop)
        self.timers = timers
        _ = try timers.arm(after: .seconds(30)) { _ in self.close() }
    }

    func close() { timers = nil }
}

// MARK: UplinkHTTP

func request(_ client: HTTPClient) async throws -> [UInt8] {
    let response = try await client.get("https://example.org/")
    let page = try await response.body.collect(upTo: 1 << 20)
    return page
}

func withoutAsync(_ client: HTTPClient) -> HTTPTask {
    let task = client.get(from: "https://example.org/") { result in print(result) }
    return task
}

func events(_ client: HTTPClient) async throws {
    let events = HTTPEvents()
    async let page = client.get("https://example.org/", options: HTTPRequestOptions(events: events))
        .body.collect(upTo: 1 << 20)
    for await event in events { print(event) }
    print(try await page.count)
}

func checked(_ response: HTTPClientResponse, _ digest: [UInt8], _ path: FilePath) async throws {
    try await response.body.checksummed(with: SHA256(), expecting: digest).body.write(to: path)
}

struct Always: HTTPTransport {
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody(Array("hello".utf8)))
    }
}

func counted(_ configuration: inout HTTPClient.Configuration) {
    let counters = HTTPCounters()
    configuration.middlewares = [.metrics(to: counters)]
    print(counters)  // 12 requests, 3 sent again, 48210 bytes received; 200: 9, 503: 2, connectTimeout: 1
}

func logged(_ configuration: inout HTTPClient.Configuration) {
    let logger = Logger()
    configuration.middlewares = [.logging { logger.info("\($0)") }, .retry()]
}

func stamped(_ configuration: inout HTTPClient.Configuration) {
    struct Timestamp: HTTPMiddleware {
        func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
            var request = request
            request.head.headerFields[.init("X-Sent-At")!] = timestamp()
            return try await next(request)
        }
    }
    configuration.middlewares = [.logging { print($0) }, .retry(), Timestamp()]
}

func authorised(_ transport: any HTTPTransport, with secret: String) throws -> HTTPClient {
    let plain = HTTPClient(transport: transport)
    var configuration = HTTPClient.Configuration()
    configuration.middlewares = [
        try .bearer(for: ["https://api.example.org"]) { _ in
            let answer = try await plain.post("https://login.example.org/token", body: .text(secret))
            return String(decoding: try await answer.body.collect(upTo: 4096), as: UTF8.self)
        }
    ]
    let client = HTTPClient(transport: transport, configuration: configuration)
    return client
}

// MARK: Uplink

func page() async throws -> [UInt8] {
    let page = try await withHTTPClient { client in
        try await client.get("https://example.org/").body.collect(upTo: 1 << 20)
    }
    return page
}

func downloadedImage(_ client: HTTPClient) async throws -> DownloadedFile {
    let file = try await client.download("https://example.org/disk.iso", to: "disk.iso", within: .seconds(3600))
    return file
}
