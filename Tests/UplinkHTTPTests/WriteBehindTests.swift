// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore

@testable import UplinkHTTP

/// Chunks on their way to a disk.
@Suite(.timeLimit(.minutes(1)))
struct WriteBehindTests {
    /// A disk that writes when it is told to.
    private final class Disk: Sendable {
        private typealias Turn = (run: @Sendable () -> Bool, done: @Sendable (Result<Bool, any Error>) -> Void)
        private let turns = Locked<[Turn]>([])
        let written = Locked<[UInt8]>([])
        let failure = Locked<(any Error)?>(nil)

        func makeWriter() -> WriteBehind {
            WriteBehind(starting: { turn, completion in self.turns.withLock { $0.append((turn, completion)) } }) {
                chunk in
                if let failure = self.failure.withLock({ $0 }) { throw failure }
                self.written.withLock { $0 += chunk.bytes }
            }
        }

        /// How many turns of the writer wait.
        var waiting: Int { turns.withLock { $0.count } }

        func write() {
            guard let turn = turns.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
            turn.done(.success(turn.run()))
        }

        func refuse(_ error: any Error) { turns.withLock { $0.removeFirst() }.done(.failure(error)) }
    }

    private struct Broken: Error {}

    private func piece(_ byte: UInt8, _ count: Int = WriteQueue.highMark - 1) -> HTTPBody.Chunk {
        HTTPBody.Chunk([UInt8](repeating: byte, count: count))
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
        _ = try queue.push(piece(0))
        #expect(queue.hasRoom)
        _ = try queue.push(.init([1]))
        #expect(!queue.hasRoom)
        _ = queue.take()
        #expect(queue.hasRoom)
    }

    /// Each costs more than its bytes.
    @Test func ofSmallPiecesOnlySoManyWait() throws {
        var queue = WriteQueue()
        while queue.hasRoom { _ = try queue.push(.init([1])) }
        #expect(queue.take()?.count == WriteQueue.mostPieces)
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

    /// While the disk does nothing its reader takes no more than may wait.
    @Test func whoWritesWaitsForASlowDisk() async throws {
        let disk = Disk()
        let writer = disk.makeWriter()
        let (taken, isDrained) = (Locked(0), Locked(false))
        let task = Task {
            defer { isDrained.withLock { $0 = true } }
            for byte in UInt8(0)..<20 {
                try await writer.write(piece(byte))
                taken.withLock { $0 += 1 }
            }
            try await writer.drain()
        }
        try await eventually { taken.withLock { $0 } == 1 }
        for _ in 0..<1000 { await Task.yield() }
        #expect(taken.withLock { $0 } == 1)
        #expect(disk.waiting == 1)
        // A turn may end with the last byte: then another one finds out that nothing is left.
        try await eventually("everything is written") {
            disk.write()
            return isDrained.withLock { $0 }
        }
        try await task.value
        #expect(disk.written.withLock { $0 } == (UInt8(0)..<20).flatMap { piece($0).bytes })
    }

    @Test func aFailedWriteIsThrownToWhoeverWaits() async throws {
        let disk = Disk()
        let writer = disk.makeWriter()
        try await writer.write(piece(1, 1))
        let draining = Task { try await writer.drain() }
        disk.failure.withLock { $0 = Broken() }
        disk.write()
        await #expect(throws: Broken.self) { try await draining.value }
        await #expect(throws: Broken.self) { try await writer.write(piece(1, 1)) }
        #expect(writer.written == 0)
    }

    @Test func aWriterThatCannotBeStartedIsAnError() async throws {
        let disk = Disk()
        let writer = disk.makeWriter()
        try await writer.write(piece(1, 1))
        disk.refuse(Broken())
        await #expect(throws: Broken.self) { try await writer.drain() }
    }

    @Test func whatWasNeverWrittenNeedsNoWaiting() async throws { try await Disk().makeWriter().drain() }
}
