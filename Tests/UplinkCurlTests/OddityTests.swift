// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// Servers and programs that do what few do.
@Suite(.timeLimit(.minutes(1)))
struct OddityTests {
    /// One byte in less than the stall timeout is progress; the total timeout is what ends it.
    @Test func aDrippingHeadIsEndedByItsTimeout() async throws {
        let drip = Array("HTTP/1.1 200 OK\r\n".utf8).flatMap { [RawServer.Step.send([$0]), .pause(.milliseconds(50))] }
        try await withServer([.readHead] + drip + [.waitForClose]) { server in
            try await withClient { client, _ in
                let timeouts = HTTPTimeouts(firstByte: .milliseconds(300))
                let (error, _) = await failure { _ = try await client.get(server.url(), timeouts: timeouts) }
                #expect(error?.code == .firstByteTimeout)
            }
        }
    }

    /// The last piece comes while the transfer is paused (curl issue 3994).
    @Test func aPauseOnTheLastPieceLosesNothing() async throws {
        for extra in [1, 100, 16_384, 16_385] {
            let mark = 256 * 1024
            let count = mark + extra
            var configuration = HTTPClient.Configuration()
            configuration.limits.bufferedBytes = mark
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"
            try await withServer([.readHead, .send(head), .fill(count), .loop]) { server in
                try await withClient(configuration) { client, transport in
                    let body = try await client.get(server.url()).body
                    try await eventually { server.connections[0].filled == count }
                    try await eventually { transport.bufferedBytes + 16_384 >= min(mark, count) }
                    try await Task.sleep(for: .milliseconds(20))
                    let read = try await body.discard()
                    #expect(read == Int64(count))
                    let again = try await client.get(server.url()).body.discard()
                    #expect(again == Int64(count))
                }
                #expect(server.connections.count == 1)
            }
        }
    }

    /// A field set by its name becomes several, which is for HTTP/2: in HTTP/1.1 there is one at most.
    @Test func cookiesGoOutInOneField() async throws {
        var fields: HTTPFields = [.accept: "a", .cookie: "z=0", .userAgent: "u"]
        fields[.cookie] = "a=1; b=\u{E9}; c=3"
        fields.append(HTTPField(name: .accept, value: "b"))
        try await withServer([.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .loop]) { server in
            try await withClient { client, _ in
                for _ in 0..<2 { #expect(try await client.get(server.url(), headers: fields).status == .noContent) }
                _ = try await client.get(server.url(), headers: [.cookie: "a=1; b=2"])
            }
            let heads = server.connections.flatMap(\.heads).map { $0.split(separator: "\r\n") }
            #expect(heads[0].filter { $0.hasPrefix("Cookie") } == ["Cookie: a=1; b=\u{E9}; c=3"])
            #expect(heads[0].filter { $0.hasPrefix("Accept:") } == ["Accept: a", "Accept: b"])
            #expect(heads[1] == heads[0])
            #expect(heads[2].contains("Cookie: a=1; b=2"))
        }
    }

    @Test func aFieldOfBlanksAloneGoesOutEmpty() async throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Blank")), lenientValue: [0x20, 0x09]))
        try await withServer([.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n")]) { server in
            try await withClient { client, _ in _ = try await client.get(server.url(), headers: fields) }
            #expect(server.connections[0].heads[0].contains("\r\nX-Blank:\r\n"))
        }
    }

    @Test(arguments: [(nil, ["Accept: */*"]), ("", []), ("a/b", ["Accept: a/b"])])
    func anEmptyAcceptKeepsLibcurlsFromBeingSent(accept: String?, sent: [Substring]) async throws {
        var fields = HTTPFields()
        fields[.accept] = accept
        try await withServer([.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n")]) { server in
            try await withClient { client, _ in _ = try await client.get(server.url(), headers: fields) }
            let lines = server.connections[0].heads[0].split(separator: "\r\n")
            #expect(lines.filter { $0.hasPrefix("Accept:") } == sent)
        }
    }

    /// Octets above 0x7F are a field's value too (RFC 9110, section 5.5), whatever they mean.
    @Test func aFieldThatIsNoUTF8GoesOutAsItIs() async throws {
        let (listener, port) = try LoopbackSocket.listen(backlog: 1)
        defer { close(listener) }
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Octets")), value: [0x61, 0xE9] as [UInt8]))
        try await withClient { client, _ in
            let task = Task { [fields] in try await client.get("http://127.0.0.1:\(port)/", headers: fields).status }
            var connection: CInt = -1
            try await eventually {
                connection = accept(listener, nil, nil)
                return connection >= 0
            }
            defer { close(connection) }
            var head: [UInt8] = []
            try await eventually {
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, CInt(MSG_DONTWAIT)) == 1 { head.append(byte) }
                return head.suffix(4) == [13, 10, 13, 10]
            }
            #expect(head.firstRange(of: Array("X-Octets: a".utf8) + [0xE9, 13, 10]) != nil)
            let answer = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
            #expect(send(connection, answer, answer.count, CInt(MSG_NOSIGNAL)) == answer.count)
            #expect(try await task.value == .noContent)
        }
    }

    @Test func aRedirectInChunksKeepsItsConnection() async throws {
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngone\r\n0\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await withServer([.readHead, .send(redirect), .readHead, .send(answer), .loop]) { server in
            try await withClient { client, _ in
                let count = try await client.get(server.url()).body.discard()
                #expect(count == 2)
            }
            #expect(server.connections.count == 1)
        }
    }

    /// What it says of another request is not said of this one.
    @Test func anErrorOfAProducersOwnRequestKeepsItsURL() async throws {
        var other = HTTPClientError(.connectionReset, phase: .body, message: "another server")
        (other.url, other.receivedBytes) = ("http://other.example/", 7)
        try await withServer([.readHead, .readBody()]) { server in
            try await withClient { client, _ in
                let body = HTTPRequestBody.stream(Asking { [other] _ in throw other })
                let (error, _) = await failure { _ = try await client.post(server.url(), body: body) }
                #expect(error?.url == "http://other.example/")
                #expect(error?.receivedBytes == 7)
            }
        }
    }

    /// Runs each job at once where it is enqueued: in a child process there are no other threads.
    private final class AtOnce: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test(.disabled(if: Timing.isInstrumented, "ThreadSanitizer ends forks of programs with threads"))
    func aForkIsRefusedAndItsParentGoesOn() async throws {
        typealias Fork = @convention(c) () -> pid_t
        let symbol = try #require(dlsym(nil, "fork"))  // Swift hides it, with reason
        let fork = unsafeBitCast(symbol, to: Fork.self)
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]) { server in
            try await withClient { client, transport in
                _ = try await client.get(server.url()).body.discard()
                let request = HTTPTransportRequest(head: try HTTPRequest(parsing: server.url()))
                let executor = AtOnce()
                let outcome = Locked<CInt>(9)
                let child = Self.inChild(fork) {
                    Task(executorPreference: executor) {
                        do {
                            _ = try await transport.send(request)
                            outcome.withLock { $0 = 1 }
                        } catch let error as HTTPClientError {
                            outcome.withLock { $0 = error.code == .closed ? 0 : 2 }
                        } catch { outcome.withLock { $0 = 3 } }
                    }
                    return outcome.withLock { $0 }
                }
                #expect(child == 0)
                _ = try await client.get(server.url()).body.discard()
            }
            #expect(server.heads.count == 2 && server.connections.count == 1)
        }
    }

    /// The exit status of a child that does this. A child in which another thread held a lock at the time of the fork
    /// may hang; it is ended and another one tried.
    private static func inChild(_ fork: () -> pid_t, _ work: () -> CInt) -> CInt {
        for _ in 0..<5 {
            let pid = fork()
            if pid == 0 { _exit(work()) }
            var status: CInt = 0
            for _ in 0..<1000 {
                if waitpid(pid, &status, WNOHANG) == pid { return status & 0x7F == 0 ? status >> 8 & 0xFF : -status }
                usleep(5_000)
            }
            kill(pid, SIGKILL)
            waitpid(pid, &status, 0)
        }
        return -1
    }
}
