// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Uplink

/// Transfers from a server that misbehaves, cancelled at random moments, by clients and on loops that end in every way
/// there is, most of them while transfers still run.
struct TransferPart: StormPart {
    let name = "transfers"
    let kinds = ["value", "cancelled", "dropped", "closed", "failed", "timeout"]

    /// How a client ends.
    private enum End: CaseIterable {
        /// When its transfers are over.
        case idle
        /// Its transport is shut down: they are waited for, or cancelled.
        case draining, cancelling
        /// Its loop ends under it.
        case withItsLoop
        /// Nobody ends it; the last who has it lets go.
        case dropped
    }

    private static let (callers, rounds) = (10, 12)

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        let end = End.allCases.randomElement(using: &random) ?? .idle
        let moment = Duration.milliseconds(Int.random(in: 0..<200, using: &random))
        let server = try MisbehavingServer()
        let events = Locked((requests: 0, ends: 0))
        let loop = try EventLoop()
        var transport: CurlTransport? = try CurlTransport(on: loop)
        if let transport {
            let storm = storm(transport, server, record, events, &random)
            if end != .idle { try await Task.sleep(for: moment) }
            switch end {
            case .idle, .dropped: break
            case .draining: await transport.shutdown(.draining)
            case .cancelling: await transport.shutdown(.cancelling)
            case .withItsLoop: await loop.endAndWait()
            }
            await storm.value
            if end == .idle { await transport.shutdown() }
        }
        if end == .dropped { transport = nil }
        if let transport, end != .withItsLoop {
            let census = await transport.census()
            record.expect(census == (0, 0), "left of a transport that ended \(end): \(census)")
        }
        await loop.endAndWait()
        try await offPool { server.stop() }
        let left = { transport?.bufferedBytes ?? 0 }
        try await eventually(within: .seconds(120), "buffers are empty after \(end), not \(left())") { left() == 0 }
        try await eventually(
            within: .seconds(120), "each request has one end after \(end): \(events.withLock { $0 })"
        ) {
            events.withLock { $0.requests == $0.ends }
        }
    }

    private func storm(
        _ transport: CurlTransport, _ server: MisbehavingServer, _ record: StormRecord,
        _ events: Locked<(requests: Int, ends: Int)>, _ random: inout SeededGenerator
    ) -> Task<Void, Never> {
        var configuration = HTTPClient.Configuration()
        configuration.timeouts = HTTPTimeouts(
            connect: .seconds(5), firstByte: .milliseconds(300), stall: .milliseconds(300))
        configuration.limits.bufferedBytes = 128 * 1024
        configuration.maximumRedirects = 3
        let client = HTTPClient(transport: transport, configuration: configuration)
        let starts = (0..<Self.callers).map { _ in random.fork() }
        return Task {
            await withDiscardingTaskGroup { group in
                for start in starts {
                    group.addTask {
                        var random = start
                        for _ in 0..<Self.rounds {
                            let outcome = await TransferCall(client, server, record, events, &random).run(&random)
                            record.end(outcome)
                            if outcome == "closed" { break }
                        }
                    }
                }
            }
        }
    }
}

/// One request, read in one of several ways, and perhaps cancelled.
private struct TransferCall: Sendable {
    private enum Reading: CaseIterable { case whole, aPiece, nothing }

    private let client: HTTPClient
    private let conduct: MisbehavingServer.Conduct
    private let url: String
    private let reading: Reading
    private let record: StormRecord
    private let events: Locked<(requests: Int, ends: Int)>

    init(
        _ client: HTTPClient, _ server: MisbehavingServer, _ record: StormRecord,
        _ events: Locked<(requests: Int, ends: Int)>, _ random: inout SeededGenerator
    ) {
        (self.client, self.record, self.events) = (client, record, events)
        conduct = MisbehavingServer.Conduct.allCases.randomElement(using: &random) ?? .whole
        url = server.url(conduct)
        reading = random.oneIn(3) ? Reading.allCases.randomElement(using: &random) ?? .whole : .whole
    }

    /// What became of it.
    func run(_ random: inout SeededGenerator) async -> String {
        let isCancelled = random.oneIn(3)
        let delay = Duration.microseconds(Int.random(in: 0..<20_000, using: &random))
        record.begin()
        let task = Task { try await send() }
        if isCancelled {
            if random.oneIn(2) { try? await Task.sleep(for: delay) }
            task.cancel()
        }
        do {
            return try await task.value
        } catch is CancellationError {
            return "cancelled"
        } catch let error as HTTPClientError {
            switch error.code {
            case .closed: return "closed"
            case .firstByteTimeout, .stallTimeout, .connectTimeout: return "timeout"
            default: return "failed"
            }
        } catch {
            record.broken("\(conduct): \(error)")
            return "unexpected"
        }
    }

    private func send() async throws -> String {
        var options = HTTPRequestOptions()
        let isOver = Locked(false)
        events.withLock { $0.requests += 1 }
        options.observer = { [conduct, record, events] event in
            guard event.isTheLast else { return }
            let isSecond = isOver.withLock { isOver in
                defer { isOver = true }
                return isOver
            }
            record.expect(!isSecond, "\(conduct): a second end, \(event)")
            events.withLock { $0.ends += 1 }
        }
        let body = HTTPRequestBody.bytes([UInt8](repeating: 7, count: 20_000))
        let response =
            conduct.isUpload
            ? try await client.post(url, body: body, options: options)
            : try await client.get(url, options: options)
        switch reading {
        case .nothing: return "dropped"
        case .aPiece:
            for try await _ in response.body { break }
            return "dropped"
        case .whole:
            let bytes = try await response.body.collect(upTo: 100_000)
            let isRight = conduct.mayBeWhole && bytes.elementsEqual(MisbehavingServer.body.utf8)
            record.expect(isRight || response.status.code == 413, "\(conduct) was taken for \(bytes.count) bytes")
            return "value"
        }
    }
}

extension HTTPEvent {
    /// Whether it tells the end.
    fileprivate var isTheLast: Bool {
        switch self {
        case .finished, .failed: true
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: false
        }
    }
}
