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

/// Uploads that are not wanted any more, and what they hold while they last.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized)
struct UploadEndTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let script: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .loop]

    private func post(_ server: RawServer) throws -> HTTPRequest {
        try HTTPRequest(parsing: server.url(), method: .post)
    }

    // MARK: Cancelling

    @Test func cancellingEndsTheProducerAndTheConnection() async throws {
        let isCancelled = Locked(false)
        try await withServer([.readHead, .readBody()]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        guard number > 2 else { return [UInt8](repeating: 1, count: 10_000) }
                        return try await withTaskCancellationHandler {
                            try await Task.sleep(for: .seconds(1000))
                            return nil
                        } onCancel: {
                            isCancelled.withLock { $0 = true }
                        }
                    })
                let task = Task { _ = try await client.execute(post(server), body: body) }
                try await eventually { (server.bodies.first?.count ?? 0) >= 30_000 }
                let start = ContinuousClock.now
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(await transport.census() == (0, 0))
                try await eventually { isCancelled.withLock { $0 } && server.connections[0].closedAt != nil }
                #expect(ContinuousClock.now - start < Timing.slack(.milliseconds(500)))
            }
        }
    }

    /// A producer that waits for room is let go, and so is what it holds.
    @Test func cancellingAgainstAServerThatDoesNotReadLeavesNothing() async throws {
        final class Held: Sendable {}
        weak var held: Held?
        try await withServer([.readHead, .waitForCloseWithoutReading]) { server in
            try await withClient { client, transport in
                var task: Task<Void, any Error>?
                do {
                    let object = Held()
                    held = object
                    let body = HTTPRequestBody.stream(
                        Asking { _ in
                            withExtendedLifetime(object) { [UInt8](repeating: 1, count: 1 << 20) }
                        })
                    task = Task { [post = try post(server)] in _ = try await client.execute(post, body: body) }
                }
                try await eventually { !server.heads.isEmpty }
                try await Task.sleep(for: .milliseconds(200))
                task?.cancel()
                await #expect(throws: CancellationError.self) { try await task?.value }
                #expect(await transport.census() == (0, 0))
                task = nil
                try await eventually("the producer is let go") { held == nil }
            }
        }
    }

    @Test func shuttingDownEndsAnUploadAndItsProducer() async throws {
        let isCancelled = Locked(false)
        try await withServer([.readHead, .readBody()]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        guard number > 0 else { return [1] }
                        do {
                            try await Task.sleep(for: .seconds(1000))
                        } catch {
                            isCancelled.withLock { $0 = true }
                        }
                        return nil
                    })
                let task = Task { _ = try await client.execute(post(server), body: body) }
                try await eventually { (server.bodies.first?.count ?? 0) > 0 }
                await transport.shutdown(.cancelling)
                await #expect(throws: CancellationError.self) { try await task.value }
                try await eventually { isCancelled.withLock { $0 } }
            }
        }
    }

    /// The loop goes while the file is read and the producer waits for room.
    @Test func aLoopThatEndsEndsAnUpload() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("upload")
        try directory.write("upload", [UInt8](repeating: 1, count: 32 << 20))
        try await withServer([.readHead, .waitForCloseWithoutReading]) { server in
            var task: Task<Void, any Error>?
            try await withEventLoop { loop in
                let client = HTTPClient(transport: try CurlTransport(on: loop))
                task = Task { [post = try post(server)] in _ = try await client.execute(post, body: .file(path)) }
                try await eventually { !server.heads.isEmpty }
                try await Task.sleep(for: .milliseconds(50))
            }
            let (error, _) = await failure { try await task?.value }
            #expect(error?.code == .closed)
            try await eventually("no descriptor of the file is left") { !isOpen(path) }
        }
    }

    @Test func cancellingAtAnyTimeEndsOnce() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("upload", [UInt8](repeating: 1, count: 3 << 20))
        let path = directory.path.appending("upload")
        try await withServer([.readHead, .readBody(pausing: .milliseconds(1)), .send(Self.answer), .loop]) { server in
            try await withClient { client, transport in
                for round in 0..<60 {
                    let body =
                        round.isMultiple(of: 2)
                        ? HTTPRequestBody.file(path) : .stream(Pieces([UInt8](repeating: 1, count: 3 << 20)))
                    let task = Task { _ = try await client.execute(post(server), body: body) }
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
                    task.cancel()
                    do { try await task.value } catch { #expect(error is CancellationError) }
                    #expect(await transport.census().transfers == 0)
                }
            }
        }
        try await eventually("no descriptor of the file is left") { !isOpen(path) }
    }

    /// Whether the process has a descriptor of this file.
    private func isOpen(_ path: FilePath) -> Bool {
        (0..<1024).contains { number in
            var target = [CChar](repeating: 0, count: 256)
            let count = readlink("/proc/self/fd/\(number)", &target, target.count)
            guard count > 0 else { return false }
            return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) == path.string
        }
    }

    // MARK: Memory

    /// 64 MiB through a file and through a stream, with no more than the marks in memory.
    @Test(arguments: [true, false]) func aGreatBodyIsNeverHeld(_ isFile: Bool) async throws {
        let (piece, count) = (1 << 16, 1024)
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var expected = BodyRecord()
        let path = directory.path.appending("upload")
        let file = try FileDescriptor.open(path, .writeOnly, options: .create, permissions: .ownerReadWrite)
        for number in 0..<count {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: piece)
            bytes.withUnsafeBytes { expected.append($0) }
            if isFile { try file.writeAll(bytes) }
        }
        expected.finish()
        try file.close()
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let before = Memory.resident
                let peak = Memory.resetPeak()
                let stream = Asking { number in
                    number < count ? [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: piece) : nil
                }
                let body = isFile ? HTTPRequestBody.file(path) : .stream(stream)
                let response = try await client.execute(try post(server), body: body)
                #expect(response.status == .ok)
                let growth = (peak ? Memory.peak : Memory.resident) - before
                #expect(Timing.isInstrumented || growth < 24 << 20, "grew by \(growth >> 10) KiB")
            }
            #expect(server.bodies == [expected])
        }
    }
}
