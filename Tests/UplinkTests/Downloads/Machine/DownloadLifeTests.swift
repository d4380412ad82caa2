// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import Testing
import UplinkHTTP

@testable import Uplink

/// The one outcome, and the order of bytes on their way to the disk.
@Suite(.timeLimit(.minutes(1)))
struct DownloadLifeTests {
    private let file = DownloadedFile(
        path: "f", byteCount: 0, transferredBytes: 0, url: "", head: nil, checksum: nil, attempts: 1, resumptions: 0,
        restarts: 0)

    @Test func whoCancelsAfterTheNamingGetsTheFile() {
        var life = DownloadLife()
        #expect(life.name() == true)
        #expect(life.end(.cancelled) == false)
        #expect(life.abandoned(CancellationError()) == false)
        #expect(life.ended(.success(file)) == true)
        #expect((try? life.outcome?.get()) != nil)
        #expect(life.ended(.failure(CancellationError())) == false)
        #expect((try? life.outcome?.get()) != nil)
    }

    @Test func whoCancelsBeforeGetsNone() {
        var life = DownloadLife()
        #expect(life.end(.deadline) == true)
        #expect(life.end(.cancelled) == false)
        #expect(life.cause == .deadline)
        #expect(life.name() == false)
        #expect(life.ended(.failure(CancellationError())) == true)
        #expect(life.cause == nil)
    }

    @Test func workThatHangsIsAbandonedAndItsOwnEndComesTooLate() {
        var life = DownloadLife()
        #expect(life.abandoned(CancellationError()) == false)
        _ = life.end(.deadline)
        #expect(life.abandoned(CancellationError()) == true)
        #expect(life.name() == false)
        #expect(life.ended(.success(file)) == false)
    }

    @Test func chunksAreTakenInOrderByOneWriter() throws {
        var queue = WriteQueue()
        #expect(try queue.push(.init([1])) == true)
        #expect(try queue.push(.init([2])) == false)
        #expect(queue.take()?.map(\.bytes) == [[1], [2]])
        #expect(try queue.push(.init([3])) == false)  // the writer looks again
        #expect(queue.take()?.map(\.bytes) == [[3]])
        #expect(!queue.isIdle)
        #expect(queue.take() == nil)
        #expect(queue.isIdle)
        #expect(try queue.push(.init([4])) == true)
    }

    @Test func whatWaitsIsBounded() throws {
        var queue = WriteQueue()
        let piece = HTTPBody.Chunk([UInt8](repeating: 0, count: WriteQueue.highMark - 1))
        _ = try queue.push(piece)
        #expect(queue.hasRoom)
        _ = try queue.push(.init([1]))
        #expect(!queue.hasRoom)
        _ = queue.take()
        #expect(queue.hasRoom)
    }

    @Test func afterAFailedWriteNothingIsTaken() throws {
        var queue = WriteQueue()
        _ = try queue.push(.init([1]))
        queue.fail(CancellationError())
        #expect(queue.take() == nil)
        #expect(queue.hasFailed)
        #expect(throws: CancellationError.self) { try queue.push(.init([1])) }
    }
}
