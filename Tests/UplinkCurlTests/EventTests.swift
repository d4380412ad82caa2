// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// What an observer was told, as words.
final class Recorder: Sendable {
    private let all = Locked<[HTTPEvent]>([])

    var events: [HTTPEvent] { all.withLock { $0 } }

    var words: [String] {
        events.map { event in
            switch event {
            case .queued: "queued"
            case .started: "started"
            case .connected(let connection): connection.isReused ? "connected again" : "connected"
            case .sent: "sent"
            case .interim(let status): "interim \(status.code)"
            case .head(let status): "head \(status.code)"
            case .redirected: "redirected"
            case .retrying: "retrying"
            case .finished: "finished"
            case .failed(let error, _): "failed \(error.map { "\($0.code)" } ?? "cancelled")"
            }
        }
    }

    var connection: HTTPConnection? {
        events.lazy.compactMap { if case .connected(let connection) = $0 { connection } else { nil } }.first
    }

    var timings: HTTPTimings? {
        switch events.last {
        case .finished(let timings), .failed(_, let timings): timings
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying, nil: nil
        }
    }

    func observe(_ event: HTTPEvent) { all.withLock { $0.append(event) } }
}

extension CurlTransport {
    /// Sends a GET that is observed.
    func get(
        _ url: String, _ recorder: Recorder, timeouts: HTTPTimeouts = .init(), limits: HTTPLimits = .init()
    ) async throws -> HTTPTransportResponse {
        try await send(
            HTTPTransportRequest(
                head: HTTPRequest(parsing: url), timeouts: timeouts, limits: limits,
                observer: { recorder.observe($0) }))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EventTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    @Test func everythingIsToldInItsOrder() async throws {
        let script: [RawServer.Step] = [
            .readHead, .pause(.milliseconds(30)),
            .send("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"),
            .pause(.milliseconds(40)),
            .send("llo"), .loop,
        ]
        try await withServer(script) { server in
            try await withClient { _, transport in
                let first = Recorder()
                #expect(try await transport.get(server.url(), first).body.discard() == 5)
                #expect(first.words == ["queued", "started", "connected", "interim 103", "head 200", "finished"])
                #expect(first.connection?.remoteAddress == "127.0.0.1:\(server.port)")
                #expect(first.connection?.localAddress.hasPrefix("127.0.0.1:") == true)
                #expect(first.connection?.isTLSResumed == nil)
                let timings = try #require(first.timings)
                #expect(timings.receivedBytes == 5 && timings.sentBytes == 0)
                #expect(timings.connection == first.connection)
                let firstByte = try #require(timings.firstByte)
                let body = try #require(timings.body)
                #expect(firstByte >= .milliseconds(30) && body > .zero)
                #expect(timings.tls == nil)
                let parts = [timings.queue, timings.nameLookup, timings.connect, timings.firstByte, timings.body]
                let sum = parts.compactMap { $0 }.reduce(.zero, +)
                #expect(parts.allSatisfy { $0 != nil } && sum <= timings.total + .milliseconds(1), "\(timings)")
                let second = Recorder()
                _ = try await transport.get(server.url(), second).body.discard()
                #expect(second.words[2] == "connected again")
                #expect(second.connection?.localAddress == first.connection?.localAddress)
                #expect(second.timings?.connect == nil && second.timings?.nameLookup == nil)
            }
        }
    }

    @Test func theHeadIsToldBeforeTheCallerHasIt() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .waitForClose]) {
            server in
            try await withClient { _, transport in
                let recorder = Recorder()
                let response = try await transport.get(server.url(), recorder)
                #expect(recorder.words == ["queued", "started", "connected", "head 200"])
                withExtendedLifetime(response) {}
            }
        }
    }

    @Test func failuresAndCancellationsAreTold() async throws {
        try await withServer([.readHead, .reset]) { server in
            try await withClient { _, transport in
                let recorder = Recorder()
                _ = await failure { _ = try await transport.get(server.url(), recorder) }
                #expect(recorder.words == ["queued", "started", "connected", "failed connectionReset"])
            }
        }
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { _, transport in
                let recorder = Recorder()
                let task = Task { try await transport.get(server.url(), recorder) }
                try await eventually { !server.heads.isEmpty }
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
                #expect(recorder.words == ["queued", "started", "connected", "failed cancelled"])
            }
        }
    }

    @Test func aRefusedRequestIsTold() async throws {
        try await withClient { _, transport in
            await transport.shutdown()
            let recorder = Recorder()
            _ = await failure { _ = try await transport.get("http://127.0.0.1:1/", recorder) }
            #expect(recorder.words == ["failed closed"])
        }
    }

    @Test func waitingForATurnIsTimeOfTheQueue() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumConcurrentTransfersPerHost = 1
        let endless: [RawServer.Step] = [.readHead, .send("HTTP/1.1 200 OK\r\n\r\na"), .waitForClose]
        try await withServer(endless, [.readHead, .send(Self.answer), .loop]) { server in
            try await withClient(transport: configuration) { client, transport in
                let first = Task {
                    for try await _ in try await client.get(server.url()).body {}
                }
                try await eventually { !server.heads.isEmpty }
                let recorder = Recorder()
                let second = Task { try await transport.get(server.url(), recorder).body.discard() }
                try await eventually { recorder.words == ["queued"] }
                try await Task.sleep(for: .milliseconds(20))
                first.cancel()
                _ = try await second.value
                #expect(recorder.timings?.queue ?? .zero >= .milliseconds(20))
            }
        }
    }

    /// The server closes the idle connection; libcurl goes on with a new one, and says so.
    @Test func aDeadConnectionIsReplacedAndTold() async throws {
        try await withServer([.readHead, .send(Self.answer), .readHead], [.readHead, .send(Self.answer), .loop]) {
            server in
            try await withClient { client, transport in
                _ = try await client.get(server.url()).body.discard()
                let recorder = Recorder()
                #expect(try await transport.get(server.url(), recorder).body.discard() == 5)
                #expect(
                    recorder.words == ["queued", "started", "connected again", "connected", "head 200", "finished"])
            }
        }
    }

    /// Whoever is told of the end hears of it before the reader does: what the reader's side knows by itself is that it
    /// is over, and nothing of what came. Two answers end in one turn, and telling of the first takes a while, in which
    /// the other's reader asks.
    @Test func theEndIsToldBeforeItsReaderKnows() async throws {
        let server = try RawServer([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"), .pause(.milliseconds(500)),
            .send("rest"),
            .waitForClose,
        ])
        defer { server.stop() }
        try await withEventLoop { loop in
            let transport = try CurlTransport(on: loop)
            let client = HTTPClient(transport: transport)
            let (halves, isTelling) = (Locked(0), Locked(false))
            func read() async throws -> HTTPTimings? {
                let recorder = Recorder()
                var options = HTTPRequestOptions()
                options.observer = { event in
                    let isLast = if case .finished = event { true } else { false }
                    let isFirst = isTelling.withLock { isTelling in
                        defer { isTelling = isTelling || isLast }
                        return isLast && !isTelling
                    }
                    if isFirst { usleep(200_000) }  // the other's reader has to come meanwhile
                    recorder.observe(event)
                }
                var iterator = try await client.get(server.url(), options: options).body.makeAsyncIterator()
                var count = try await iterator.next()?.count ?? 0
                // Both ends come while the loop is held up, so that it finds them in one turn.
                if halves.withLock({
                    $0 += 1
                    return $0 == 2
                }) {
                    loop.execute { usleep(700_000) }
                }
                try await eventually("the first end is told") { isTelling.withLock { $0 } }
                while let chunk = try await iterator.next() { count += chunk.count }
                #expect(count == 8)
                return recorder.timings
            }
            async let one = read()
            async let two = read()
            for timings in try await [one, two] { #expect(timings?.receivedBytes == 8) }
            await transport.shutdown()
        }
    }
}
