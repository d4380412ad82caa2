// SPDX-License-Identifier: Apache-2.0
import Uplink

// The code of the guide "Streaming and back-pressure".

private let client = HTTPClient.shared
private let url = "https://example.org/measurements"

func chunks() async throws -> Int {
    var count = 0
    let response = try await client.get(url)
    for try await chunk in response.body {
        count += chunk.count
        chunk.withUnsafeBytes { bytes in use(bytes) }
    }
    return count
}

func lines() async throws {
    for try await line in try await client.get(url).body.lines(maximumLength: 64 << 10) {
        print(line)
    }
}

func inMemory() async throws {
    let page = try await client.get(url).collected(upTo: 1 << 20)
    print(page.status, page.body.count, page.trailerFields)
}

func toAFile() async throws {
    let size = try await client.get(url).body.write(to: "measurements.csv", replacingExisting: true) { progress in
        print("\(progress.written) of \(progress.expected ?? -1)")
    }
    print("\(size) bytes")
}

func upload(_ samples: AsyncStream<[UInt8]>) async throws {
    let response = try await client.put(url, body: .stream(samples))
    print(response.status)
}

func copy(to target: String) async throws {
    let source = try await client.get(url)
    let response = try await client.put(target, body: .stream(source.body, length: source.body.contentLength))
    print(response.status)
}

func withLimitsOfItsOwn() async throws {
    var configuration = HTTPClient.Configuration()
    configuration.limits.bufferedBytes = 64 << 10
    configuration.limits.requiresFramedBodies = true
    var transport = CurlTransport.Configuration()
    transport.maximumBufferedBytes = 4 << 20
    transport.maximumConcurrentTransfersPerHost = 2
    try await withHTTPClient(configuration: configuration, transport: transport) { client in
        for try await chunk in try await client.get(url).body { chunk.withUnsafeBytes { use($0) } }
    }
}

func onTheLoop() async throws -> Int {
    try await withTaskExecutorPreference(EventLoop.shared) { try await chunks() }
}

private func use(_ bytes: UnsafeRawBufferPointer) {}
