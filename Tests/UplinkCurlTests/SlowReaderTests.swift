// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// What a reader costs who takes a megabyte in a second; in a process of its own, where nobody else's memory counts.
@Suite(.timeLimit(.minutes(3)), .undisturbed, .serialized)
struct SlowReaderTests {
    /// Ten seconds of 400 MB, or a little of that.
    @Test func aSlowReaderCostsLittleAndMayBecomeAFastOne() async throws {
        await #expect(processExitsWith: .success) {
            let (pieces, slow) = Timing.isExact ? (400, 10_000_000) : (128, 1_500_000)
            // A short body comes first, for all that is made once and kept.
            try await withServer(answer(3) + answer(pieces) + [.waitForClose]) { server in
                try await withClient { client, _ in
                    let short = try await Reading(of: server.url(), from: client, slowly: 300_000)
                    #expect(short.count == 3 * piece.count && short.isAsSent)
                    let long = try await Reading(of: server.url(), from: client, slowly: slow)
                    #expect(long.count == pieces * piece.count && long.isAsSent)
                    #expect(Timing.isInstrumented || long.growth < limit, "grew by \(long.growth >> 10) KiB")
                    #expect(long.rest < Timing.limit(.seconds(10)), "the rest took \(long.rest)")
                }
                #expect(server.connections.count == 1)
            }
        }
    }
}

/// What is documented (`bufferedBytes`; libcurl's buffer and as much again during a pause), and 4 MiB, or 16 where
/// others may keep this process from running in time.
private let limit = 1 << 20 + 2 * 256 << 10 + (Timing.isExact ? 4 : 16) << 20

/// What is sent over and over. Its length is odd, so that no two chunks have the same beginning.
private let piece: [UInt8] = {
    var generator = SeededGenerator(seed: 1)
    return (0..<1_000_003).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
}()

/// Whether these bytes stand at this place of what is sent.
private func isSent(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
    piece.withUnsafeBytes { sent in
        guard let expected = sent.baseAddress, let start = bytes.baseAddress else { return bytes.isEmpty }
        var done = 0
        while done < bytes.count {
            let offset = (place + done) % sent.count
            let count = min(bytes.count - done, sent.count - offset)
            guard memcmp(start + done, expected + offset, count) == 0 else { return false }
            done += count
        }
        return true
    }
}

/// An answer of so many pieces.
private func answer(_ count: Int) -> [RawServer.Step] {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(count * piece.count)\r\n\r\n"
    return [.readHead, .send(head)] + Array(repeating: RawServer.Step.send(piece), count: count)
}

/// A body that was read slowly at first.
private struct Reading {
    private(set) var count = 0
    /// Whether it came byte for byte.
    private(set) var isAsSent = true
    /// By how much the process grew at its largest while the reader was slow.
    private(set) var growth = 0
    /// How long all else took.
    private(set) var rest = Duration.zero

    /// Reads so many bytes at one in a microsecond, and the others as fast as they come.
    init(of url: String, from client: HTTPClient, slowly slow: Int) async throws {
        let before = Memory.resident
        let peak = Memory.resetPeak()
        var chunks = try await client.get(url).body.makeAsyncIterator()
        while count < slow, let chunk = try await chunks.next() {
            take(chunk)
            try await Task.sleep(for: .microseconds(chunk.count))  // what the reader is slow by
        }
        growth = (peak ? Memory.peak : Memory.resident) - before
        let start = ContinuousClock.now
        while let chunk = try await chunks.next() { take(chunk) }
        rest = ContinuousClock.now - start
    }

    private mutating func take(_ chunk: HTTPBody.Chunk) {
        let place = count
        if !chunk.withUnsafeBytes({ isSent($0, at: place) }) { isAsSent = false }
        count += chunk.count
    }
}
