// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import Uplink
import UplinkCurl
import UplinkEventLoop

/// A loop whose thread does not run for a while: somebody blocks it, the processor is away, the process was stopped.
@Suite(.timeLimit(.minutes(1)), .undisturbed)
struct HeldUpLoopTests {
    /// What came in time counts, though nobody could look at it: a deadline that passed meanwhile is looked at after
    /// what the sockets have.
    @Test func whatTheServerSentInTimeIsNoTimeout() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"
        let server = try RawServer([.readHead, .send(head), .pause(.milliseconds(300)), .fill(3), .waitForClose])
        defer { server.stop() }
        try await withEventLoop { loop in
            let transport = try CurlTransport(on: loop)
            let client = HTTPClient(transport: transport)
            let response = try await client.get(server.url(), timeouts: HTTPTimeouts(stall: .seconds(2)))
            let blocker = try Blocker(on: loop)
            // libuv calls for descriptors, then for timers, and only then looks at descriptors again.
            try await blocker.block {
                let start = ContinuousClock.now
                while server.connections.first?.filled != 3 { usleep(1000) }
                while ContinuousClock.now < start + .milliseconds(2500) { usleep(1000) }
            }
            #expect(try await response.body.collect(upTo: 10) == Array("abcxxx".utf8))
            await blocker.close()
            await transport.shutdown()
        }
    }

    /// libcurl has a limit of its own, and may look at it first.
    @Test func aHandshakeThatTakesTooLongIsOneOfTLS() async throws {
        let server = try RawServer([.waitForClose])
        defer { server.stop() }
        let url = server.url().replacing("http:", with: "https:")
        try await withEventLoop { loop in
            let transport = try CurlTransport(on: loop)
            let client = HTTPClient(transport: transport)
            async let error = #expect(throws: HTTPClientError.self) {
                try await client.get(url, timeouts: HTTPTimeouts(connect: .milliseconds(500)))
            }
            try await eventually("the server is connected") { !server.connections.isEmpty }
            try await Task.sleep(for: .milliseconds(100))  // the handshake begins
            loop.execute { usleep(1_000_000) }
            let found = await error
            #expect(found?.code == .connectTimeout && found?.phase == .tls, "\(String(describing: found))")
            await transport.shutdown()
        }
    }

    @Test func timersAreDueInTheirOrderAndDeadlinesHold() async throws {
        try await withEventLoop { loop in
            let clock = LoopClock(on: loop)
            let woken = Locked<[Int]>([])
            let start = clock.now
            let sleepers = [3, 1, 2].map { number in
                Task {
                    try await clock.sleep(until: start.advanced(by: .milliseconds(100 * number)))
                    woken.withLock { $0.append(number) }
                }
            }
            let monitor = LinuxNetworkMonitor(on: loop)
            for try await _ in monitor.paths { break }
            let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
            let never = NetworkRequirement.predicate("none") { _ in false }
            async let outcome = performer.perform(withinSeconds: 0.2, requiring: never) {}
            loop.execute { usleep(1_000_000) }
            for sleeper in sleepers { try await sleeper.value }
            #expect(woken.withLock { $0.count } == 3)
            #expect(start.duration(to: clock.now) >= .milliseconds(300))
            guard case .failure(.notStarted(let error)) = await outcome else {
                Issue.record("an operation ran without its network")
                return
            }
            #expect(error.code == .timedOut)
            for try await _ in monitor.paths { break }  // the monitor works on
        }
    }
}

/// Holds a loop up in the callback of a descriptor.
private actor Blocker: LoopActor {
    nonisolated let eventLoop: EventLoop
    private var watcher: DescriptorWatcher?
    private let ends: (reading: CInt, writing: CInt)

    init(on loop: EventLoop) throws {
        eventLoop = loop
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        self.ends = (ends[0], ends[1])
    }

    func block(_ body: @escaping @Sendable () -> Void) throws {
        let watcher = try DescriptorWatcher(of: ends.reading, for: self) { blocker, _ in
            blocker.watcher?.close()
            body()
        }
        watcher.start(.readable)
        self.watcher = watcher
        write(ends.writing, "x", 1)
    }

    func close() {
        Glibc.close(ends.reading)
        Glibc.close(ends.writing)
    }
}
