// SPDX-License-Identifier: Apache-2.0
#if Compression
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// 200 MiB of zeros in 200 KB of gzip, where that is allowed (trait `Compression`); in processes of their own, where
/// nobody else's memory counts.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized)
struct BombTests {
    @Test func collectingABombCostsNoMoreThanTheReadersLimit() async throws {
        await #expect(processExitsWith: .success) {
            let growth = try await growthWithBombs { client, url, _ in
                let (error, _) = await failure { _ = try await client.get(url).body.collect(upTo: 1 << 20) }
                #expect(error?.code == .bodyTooLarge, "\(String(describing: error))")
            }
            #expect(Timing.isInstrumented || growth < 16 << 20, "grew by \(growth >> 10) KiB")
        }
    }

    @Test func aReaderWhoPausesGetsABombChunkByChunk() async throws {
        await #expect(processExitsWith: .success) {
            let growth = try await growthWithBombs { client, url, size in
                var (count, pauses, isAllZero) = (0, 0, true)
                for try await chunk in try await client.get(url).body {
                    if !chunk.withUnsafeBytes({ isZero($0) }) { isAllZero = false }
                    count += chunk.count
                    // Time enough for whoever would decode ahead of the reader.
                    if pauses < 50 { try await Task.sleep(for: .milliseconds(10)) }
                    pauses += 1
                }
                #expect(count == size && isAllZero)
            }
            #expect(Timing.isInstrumented || growth < 16 << 20, "grew by \(growth >> 10) KiB")
        }
    }
}

/// Runs `body` with the URL and the size of a small bomb, for all that is made once and kept, then of a great one.
///
/// - Returns: By how much the process grew at its largest with the great one.
private func growthWithBombs(_ body: (HTTPClient, String, Int) async throws -> Void) async throws -> Int {
    let (small, member, members) = (2 << 20, 20 << 20, 10)
    let answers = try [answer(gzip(zeros: small)), answer(gzip(zeros: member, times: members))]
    let script = RawServer.Step.answer { head in [.send(answers[head.hasPrefix("GET /great ") ? 1 : 0])] }
    var configuration = HTTPClient.Configuration()
    configuration.limits.compressionRatio = 2000
    return try await withServer([script, .loop]) { server in
        try await withClient(configuration) { client, _ in
            try await body(client, server.url("/small"), small)
            let before = Memory.resident
            let peak = Memory.resetPeak()
            try await body(client, server.url("/great"), member * members)
            return (peak ? Memory.peak : Memory.resident) - before
        }
    }
}

/// Compresses zeros with gzip(1), several times the same one behind the other.
private func gzip(zeros count: Int, times: Int = 1) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let command = "cd \(directory.path) && head -c \(count) /dev/zero | gzip -9n > zeros.gz"
    let status = try Spawn.run(["sh", "-c", command], in: directory.path)
    try #require(status == 0)
    let member = try directory.read("zeros.gz")
    return Array(repeatElement(member, count: times).joined())
}

private func answer(_ gzip: [UInt8]) -> [UInt8] {
    Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n".utf8) + gzip
}

/// Whether the first byte is zero, and each of the others what the one before it is.
private func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.first == 0 else { return bytes.isEmpty }
    return memcmp(start, start + 1, bytes.count - 1) == 0
}
#endif
