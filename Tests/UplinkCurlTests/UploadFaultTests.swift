// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// Uploads that go wrong, or slowly, or are not wanted any more.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized)
struct UploadFaultTests {
    private struct Broken: Error, Equatable { var number = 7 }

    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let script: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .loop]

    private func post(_ server: RawServer) throws -> HTTPRequest {
        try HTTPRequest(parsing: server.url(), method: .post)
    }

    // MARK: Producers

    @Test func aProducersErrorIsTheRequestsError() async throws {
        try await withServer([.readHead, .readBody()]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        guard number < 3 else { throw Broken() }
                        return [UInt8](repeating: 1, count: 50_000)
                    })
                await #expect(throws: Broken()) { _ = try await client.execute(post(server), body: body) }
                #expect(await transport.census() == (0, 0))
            }
            try await eventually { server.connections.first?.closedAt != nil }
            #expect(server.connections.first?.isBodyWhole == false)
        }
    }

    /// The server never sees what looks like a whole body.
    @Test func aProducersOwnRequestSaysNothingOfThisOne() async throws {
        try await withServer([.readHead, .readBody()]) { server in
            try await withClient { client, _ in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        guard number < 3 else {
                            throw HTTPClientError(.connectionFailed, phase: .connect, message: "another server")
                        }
                        return [UInt8](repeating: 1, count: 50_000)
                    })
                let (error, _) = await failure { _ = try await client.execute(post(server), body: body) }
                #expect(error?.message == "another server")
                #expect(error?.requestDisposition == .maybeProcessed)
            }
        }
    }

    @Test(arguments: [99_999, 100_001]) func aWrongLengthIsAnError(_ length: Int64) async throws {
        try await withServer([.readHead, .readBody(), .send(Self.answer)]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.stream(Pieces([UInt8](repeating: 1, count: 100_000)), length: length)
                let (error, _) = await failure { _ = try await client.execute(post(server), body: body) }
                #expect(error?.code == .bodyLengthMismatch)
                #expect(error?.url == server.url())
                #expect(await transport.census() == (0, 0))
            }
            try await eventually { server.connections.first?.closedAt != nil }
            #expect(server.connections.first?.isBodyWhole == false)
        }
    }

    @Test(arguments: [-1, 1]) func aFileThatChangesMeanwhileIsAnError(_ change: Int) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let bytes = [UInt8](repeating: 1, count: 40 << 20)
        try directory.write("upload", bytes)
        let path = directory.path.appending("upload")
        let script: [RawServer.Step] = [.readHead, .pause(.milliseconds(300)), .readBody(), .send(Self.answer)]
        try await withServer(script) { server in
            try await withClient { client, _ in
                async let sending = failure { _ = try await client.execute(post(server), body: .file(path)) }
                try await eventually { !server.heads.isEmpty }
                #expect(truncate(path.string, off_t(bytes.count + change)) == 0)
                #expect(await sending.error?.code == .bodyLengthMismatch)
            }
            #expect(server.connections.first?.isBodyWhole == false)
        }
    }

    @Test func aFileThatIsNotThereIsAnErrorBeforeAnythingIsSent() async throws {
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let (error, _) = await failure {
                    _ = try await client.execute(post(server), body: .file("/nonexistent"))
                }
                #expect(error?.code == .fileFailed)
                #expect(error?.errno == ENOENT)
                #expect(error?.requestDisposition == .notSent)
            }
            #expect(server.connections.isEmpty)
        }
    }

    /// Whoever changes the working directory meanwhile. (Here a thread that has one of its own makes the body.)
    @Test func aFileIsTheOneThatThePathMeantWhenTheBodyWasMade() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("upload", Array("meant".utf8))
        let path = directory.path.string
        let body = try await onUnsharedThread {
            guard chdir(path) == 0 else { throw SetupFailure(activity: "chdir(2)", errno: errno) }
            return HTTPRequestBody.file("upload")
        }
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let response = try await client.execute(post(server), body: body)
                #expect(response.status == .ok)
            }
            #expect(server.bodies == [BodyRecord(of: Array("meant".utf8))])
        }
    }

    @Test func aSlowProducerIsWaitedFor() async throws {
        let bytes = (0..<20).map { UInt8($0) }
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                // No stall, and no wait for the head: it is the producer who takes the time.
                let timeouts = HTTPTimeouts(firstByte: .seconds(5), stall: .milliseconds(60))
                let body = HTTPRequestBody.stream(Pieces(bytes, size: 2, pause: .milliseconds(100)))
                let response = try await client.execute(post(server), body: body, options: .init(timeouts: timeouts))
                #expect(response.status == .ok)
            }
            #expect(server.bodies == [BodyRecord(of: bytes)])
        }
    }

    // MARK: Servers

    @Test func aSlowServerHoldsTheProducerUp() async throws {
        let size = 24 << 20
        let asked = Locked(0)
        try await withServer([.readHead, .pause(.milliseconds(500)), .readBody(), .send(Self.answer)]) { server in
            try await withClient { client, _ in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        guard number < size >> 16 else { return nil }
                        asked.withLock { $0 += 1 }
                        return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 << 16)
                    }, length: Int64(size))
                async let response = client.execute(post(server), body: body)
                try await eventually { !server.heads.isEmpty }
                try await Task.sleep(for: .milliseconds(300))
                let early = asked.withLock { $0 } << 16
                #expect(early < size - (1 << 20), "\(early >> 10) KiB were produced though the server read nothing")
                #expect(try await response.status == .ok)
            }
            let numbers = (0..<size >> 16).map { UInt8(truncatingIfNeeded: $0) }
            let expected = numbers.flatMap { [UInt8](repeating: $0, count: 1 << 16) }
            #expect(server.bodies == [BodyRecord(of: expected)])
        }
    }

    @Test func aServerThatReadsNothingStallsTheUpload() async throws {
        try await withServer([.readHead, .waitForCloseWithoutReading]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 64 << 20))
                let timeouts = HTTPTimeouts(firstByte: .seconds(50), stall: .milliseconds(300))
                let (error, _) = await failure {
                    _ = try await client.execute(post(server), body: body, options: .init(timeouts: timeouts))
                }
                #expect(error?.code == .stallTimeout)
                #expect(await transport.census() == (0, 0))
            }
        }
    }

    /// libcurl asks for the next piece when the kernel has room for much more; until then bytes flow all the same.
    @Test func aSlowNetworkIsNoStall() async throws {
        let bytes = [UInt8](repeating: 1, count: 6 << 20)
        try await withServer([.readHead, .readBody(pausing: .milliseconds(100)), .send(Self.answer)]) { server in
            try await withClient { client, _ in
                let timeouts = HTTPTimeouts(firstByte: .seconds(50), stall: .milliseconds(500))
                let response = try await client.execute(
                    post(server), body: .bytes(bytes), options: .init(timeouts: timeouts))
                #expect(response.status == .ok)
            }
            #expect(server.connections.first?.isBodyWhole == true)
        }
    }

    /// What libcurl has taken is still on its way when the answer has begun, and nothing of the answer's body comes.
    @Test func aSlowNetworkBehindAnEarlyHeadIsNoStall() async throws {
        let bytes = [UInt8](repeating: 1, count: 6 << 20)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        let script: [RawServer.Step] = [.readHead, .send(head), .readBody(pausing: .milliseconds(100)), .send("ok")]
        try await withServer(script) { server in
            try await withClient { client, _ in
                let timeouts = HTTPTimeouts(stall: .milliseconds(500))
                let response = try await client.execute(
                    post(server), body: .bytes(bytes), options: .init(timeouts: timeouts))
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
            }
            #expect(server.connections.first?.isBodyWhole == true)
        }
    }

    /// The same over a socket of the file system, of which the kernel tells less.
    @Test func aSlowReaderOfAUnixSocketIsNoStall() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("socket")
        let script: [RawServer.Step] = [.readHead, .readBody(pausing: .milliseconds(300)), .send(Self.answer)]
        let server = try RawServer(script, at: path)
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = path
        try await withClient(transport: configuration) { client, _ in
            let timeouts = HTTPTimeouts(firstByte: .seconds(50), stall: .milliseconds(500))
            let body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 1 << 20))
            let response = try await client.post("http://any.test/", body: body, timeouts: timeouts)
            #expect(response.status == .ok)
        }
        #expect(server.connections.first?.isBodyWhole == true)
    }

    @Test func aReaderOfAUnixSocketThatStopsStallsTheUpload() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("socket")
        let server = try RawServer([.readHead, .waitForCloseWithoutReading], at: path)
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = path
        try await withClient(transport: configuration) { client, _ in
            let timeouts = HTTPTimeouts(firstByte: .seconds(50), stall: .milliseconds(300))
            let body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 1 << 20))
            let (error, time) = await failure {
                _ = try await client.post("http://any.test/", body: body, timeouts: timeouts)
            }
            #expect(error?.code == .stallTimeout)
            #expect(time < Timing.slack(.seconds(2)))
        }
    }

    /// The time for the answer counts from the last byte of the request.
    @Test func aLongUploadIsNoLateAnswer() async throws {
        let bytes = [UInt8](repeating: 1, count: 10 << 20)
        try await withServer([.readHead, .readBody(pausing: .milliseconds(8)), .send(Self.answer)]) { server in
            try await withClient { client, _ in
                let timeouts = HTTPTimeouts(firstByte: .milliseconds(700), stall: .seconds(10))
                let start = ContinuousClock.now
                let response = try await client.execute(
                    post(server), body: .stream(Pieces(bytes)), options: .init(timeouts: timeouts))
                #expect(response.status == .ok)
                #expect(ContinuousClock.now - start > .milliseconds(700))
            }
        }
    }

    /// Answer and request at the same time: what goes in comes out.
    @Test func bothDirectionsFlowAtOnce() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n"
        let script: [RawServer.Step] = [.readHead, .send(head), .fill(2_000_000), .readBody(), .fill(2_000_000)]
        try await withServer(script) { server in
            var configuration = HTTPClient.Configuration()
            configuration.limits.bufferedBytes = 1  // every chunk pauses the answer while the request goes on
            try await withClient(configuration) { client, _ in
                let bytes = [UInt8](repeating: 5, count: 3_000_000)
                let body = HTTPRequestBody.stream(Pieces(bytes), length: 3_000_000)
                let response = try await client.execute(post(server), body: body)
                #expect(try await response.body.discard() == 4_000_000)
                #expect(server.bodies == [BodyRecord(of: bytes)])
            }
        }
    }

    @Test func aConnectionThatBreaksIsAnError() async throws {
        try await withServer([.readHead, .readSome(10_000), .reset]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
                let (error, _) = await failure { _ = try await client.execute(post(server), body: body) }
                #expect(error?.code == .connectionReset)
                #expect(error?.requestDisposition == .maybeProcessed)
                #expect(await transport.census() == (0, 0))
            }
        }
    }
}

/// A sequence that asks a closure; tells when its task is cancelled.
struct Asking: AsyncSequence, Sendable {
    let next: @Sendable (Int) async throws -> [UInt8]?

    struct Iterator: AsyncIteratorProtocol {
        let ask: @Sendable (Int) async throws -> [UInt8]?
        var number = 0
        mutating func next() async throws -> [UInt8]? {
            defer { number += 1 }
            return try await ask(number)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(ask: next) }
}
