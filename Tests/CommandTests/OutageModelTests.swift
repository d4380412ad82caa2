// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import Testing
import Uplink
import UplinkCore

@testable import UplinkCommand

/// The parts of `uplink demo --outage` that need no network.
@Suite(.timeLimit(.minutes(1)))
struct OutageModelTests {
    private func answer(_ fields: [HTTPHeader: String]) -> FlyingFox.HTTPResponse {
        let server = OutageFileServer(file: OutageFile(byteCount: 1000), limit: Locked(1000))
        return server.answer(
            to: FlyingFox.HTTPRequest(
                method: .GET, version: .http11, path: OutageFileServer.path, query: [], headers: HTTPHeaders(fields),
                body: .init()))
    }

    @Test func theServerGoesOnOnlyWithTheSameFile() {
        #expect(answer([:]).statusCode == .ok)
        let tag = answer([:]).headers[HTTPHeader("ETag")] ?? ""
        let part = answer([HTTPHeader("Range"): "bytes=400-", HTTPHeader("If-Range"): tag])
        #expect(part.statusCode == .partialContent)
        #expect(part.headers[HTTPHeader("Content-Range")] == "bytes 400-999/1000")
        #expect(answer([HTTPHeader("Range"): "bytes=0-"]).headers[HTTPHeader("Content-Range")] == "bytes 0-999/1000")
        #expect(answer([HTTPHeader("Range"): "bytes=400-", HTTPHeader("If-Range"): "\"other\""]).statusCode == .ok)
        #expect(answer([HTTPHeader("Range"): "bytes=-5"]).statusCode == .ok)
        #expect(answer([HTTPHeader("Range"): "bytes=1000-"]).statusCode == .rangeNotSatisfiable)
    }

    @Test func theFileIsTheSameHoweverItIsCut() {
        let file = OutageFile(byteCount: 200_000)
        var whole: [UInt8] = []
        while whole.count < file.byteCount { whole += file.piece(at: whole.count, upTo: 99_991) }
        #expect(whole.count == file.byteCount)
        #expect(Array(file.piece(at: 100_000, upTo: 10)) == Array(whole[100_000..<100_010]))
        var checksum = SHA256()
        whole.withUnsafeBytes { checksum.update($0) }
        #expect(file.sha256 == checksum.finish())
    }

    @Test func theServerStopsAtEachMarkUntilTheOutageIsOver() {
        let script = OutageScript(megabytes: 8, pause: 0.1)
        #expect(script.outages.map(\.mark) == [2_000_000, 4_000_000, 6_000_000])
        #expect((0...3).map(script.limit) == [2_000_000, 4_000_000, 6_000_000, 8_000_000])
    }

    @Test func whatIsWorthALineIsToldOnce() {
        var story = OutageStory()
        func take(_ phase: DownloadProgress.Phase, _ bytes: Int64) -> String? {
            var progress = DownloadProgress()
            (progress.phase, progress.receivedBytes) = (phase, bytes)
            return story.take(progress)
        }
        #expect(take(.waitingForNetwork, 0) == nil)
        #expect(take(.receiving, 2_000_000) == nil)
        #expect(take(.waitingForNetwork, 2_000_000) == "2.0 MB are there; it waits for the network")
        #expect(take(.pausing, 2_000_000) == nil)
        #expect(take(.resuming, 2_000_000) == nil)
        #expect(take(.receiving, 2_000_000) == "it goes on from 2.0 MB")
        #expect(take(.receiving, 3_000_000) == nil)
        #expect(take(.pausing, 3_000_000) == "3.0 MB are there; it tries again until the server answers")
    }
}
