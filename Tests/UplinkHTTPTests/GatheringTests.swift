// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkHTTP

/// Bodies that their reader wants as a whole: they go straight into the reader's memory.
@Suite(.timeLimit(.minutes(1)))
struct GatheringTests {
    private let pool = SlabPool()

    private func append(_ bytes: [UInt8], to machine: inout MailboxMachine<Int>) {
        bytes.withUnsafeBytes { machine.append($0, expecting: nil, from: pool) }
    }

    // The macro `#expect` does not call mutating methods.

    private func park(_ waiter: Int, in machine: inout MailboxMachine<Int>) -> Bool { machine.park(waiter) }

    private func gather(
        upTo maximum: Int, expecting expected: Int64? = nil, in machine: inout MailboxMachine<Int>
    ) -> Bool { machine.gather(upTo: maximum, expecting: expected) }

    private func gatherAtOnce(upTo maximum: Int, in machine: inout MailboxMachine<Int>) -> GatheredBody? {
        machine.gatherAtOnce(upTo: maximum)
    }

    private func whole(_ machine: inout MailboxMachine<Int>) -> [UInt8]? {
        guard case .body(.whole(let bytes)) = machine.takeGathered() else { return nil }
        return bytes
    }

    @Test func whatWasThereComesBeforeWhatFollows() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append([1, 2, 3], to: &machine)
        #expect(!gather(upTo: 10, expecting: 6, in: &machine))
        append([4, 5, 6], to: &machine)
        #expect(machine.bytes == 0)  // nothing waits for the reader, so nothing holds the transfer up
        #expect(whole(&machine) == nil)
        _ = machine.finish(.complete)
        #expect(whole(&machine) == [1, 2, 3, 4, 5, 6])
    }

    @Test func aPausedTransferGoesOn() {
        var machine = MailboxMachine<Int>(lowMark: 1)
        append([1, 2, 3], to: &machine)
        #expect(!machine.flush(isPaused: true).demand)
        #expect(gather(upTo: 10, in: &machine))
        #expect(machine.flush(isPaused: true).demand)
    }

    @Test func theReaderIsWokenAtTheEndAlone() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = gather(upTo: 10, in: &machine)
        #expect(park(7, in: &machine))
        append([1], to: &machine)
        #expect(machine.flush(isPaused: false).waiter == nil)
        #expect(machine.finish(.complete).waiter == 7)
        #expect(whole(&machine) == [1])
    }

    @Test(arguments: [nil, 4] as [Int64?])
    func oneByteTooManyWakesTheReader(expected: Int64?) {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = gather(upTo: 3, expecting: expected, in: &machine)
        append([1, 2, 3], to: &machine)
        #expect(park(7, in: &machine))
        #expect(machine.flush(isPaused: false).waiter == nil)
        append([4], to: &machine)
        #expect(machine.refusesMore)
        #expect(machine.flush(isPaused: false).waiter == 7)
        _ = machine.finish(.complete)  // the rest may have come by now
        guard case .body(.tooLarge(received: 4)) = machine.takeGathered() else {
            Issue.record("not too large")
            return
        }
    }

    @Test func anErrorStandsInThePlaceOfTheWhole() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = gather(upTo: 10, expecting: 2, in: &machine)
        append([1], to: &machine)
        _ = machine.finish(.failed(HTTPClientError.totalPassed))
        guard case .failure(let error) = machine.takeGathered() else {
            Issue.record("no failure")
            return
        }
        #expect((error as? HTTPClientError)?.code == .totalTimeout)
    }

    @Test func aCancelledReaderWaitsForTheEngine() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = gather(upTo: 10, in: &machine)
        append([1], to: &machine)
        #expect(machine.cancel() == true)
        guard case .wait = machine.takeGathered() else {
            Issue.record("does not wait")
            return
        }
        #expect(park(7, in: &machine))
        #expect(machine.finish(.failed(CancellationError())).waiter == 7)
        guard case .failure(let error) = machine.takeGathered() else {
            Issue.record("no failure")
            return
        }
        #expect(error is CancellationError)
    }

    /// What is all here is the same to a reader who does not wait as to one who does.
    @Test(arguments: [0, 1, 5, 6, 7, 100])
    func whatIsAllHereNeedNoWaiting(maximum: Int) {
        let pieces: [[UInt8]] = [[1, 2, 3], [4, 5, 6]]
        var (waiting, ready) = (MailboxMachine<Int>(lowMark: 10), MailboxMachine<Int>(lowMark: 10))
        for piece in pieces {
            append(piece, to: &waiting)
            append(piece, to: &ready)
        }
        _ = waiting.finish(.complete)
        _ = ready.finish(.complete)
        _ = gather(upTo: maximum, in: &waiting)
        switch (waiting.takeGathered(), ready.gatherAtOnce(upTo: maximum)) {
        case (.body(.whole(let one)), .whole(let other)): #expect(one == other && one == [1, 2, 3, 4, 5, 6])
        case (.body(.tooLarge(let one)), .tooLarge(let other)): #expect(one == other && maximum < 6)
        default: Issue.record("not the same")
        }
        #expect(ready.bytes == 0)
    }

    /// A body that announces its length is the same to whoever takes it as chunks and to whoever gathers it.
    @Test(arguments: [6, 128 * 1024 - 1, 128 * 1024, 300_000])
    func announcedBodiesAreTheSameInPiecesAndAsAWhole(length: Int) {
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        func filled() -> MailboxMachine<Int> {
            var machine = MailboxMachine<Int>(lowMark: 10)
            for start in stride(from: 0, to: length, by: 16_384) {
                body[start..<min(start + 16_384, length)].withUnsafeBytes {
                    machine.append($0, expecting: Int64(length - start), from: pool)
                }
            }
            return machine
        }
        var (pieces, whole) = (filled(), filled())
        var taken: [UInt8] = []
        while case .chunk(let chunk, _) = pieces.take() { taken += chunk.bytes }
        #expect(taken == body)
        #expect(pieces.bytes == 0)
        _ = gather(upTo: length, expecting: Int64(length), in: &whole)
        _ = whole.finish(.complete)
        #expect(self.whole(&whole) == body)
    }

    @Test func whatIsNotAllHereOrHasFailedIsWaitedFor() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append([1], to: &machine)
        #expect(gatherAtOnce(upTo: 10, in: &machine) == nil)
        #expect(machine.bytes == 1)
        _ = machine.finish(.failed(HTTPClientError.totalPassed))
        #expect(gatherAtOnce(upTo: 10, in: &machine) == nil)
        var cancelled = MailboxMachine<Int>(lowMark: 10)
        _ = cancelled.cancel()
        _ = cancelled.finish(.complete)
        #expect(gatherAtOnce(upTo: 10, in: &cancelled) == nil)
    }

    @Test func whoComesAfterACancellationGathersNothing() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = machine.cancel()
        #expect(!gather(upTo: 10, in: &machine))
        _ = machine.finish(.complete)
        guard case .failure = machine.takeGathered() else {
            Issue.record("no failure")
            return
        }
    }

    @Test func whatIsAnnouncedIsNotCopiedWhenMoreComes() {
        var buffer = WholeBodyBuffer(upTo: 100 << 20, expecting: 40 << 20)
        let capacity = buffer.capacity
        #expect(capacity >= 40 << 20)
        [UInt8](repeating: 1, count: 1 << 20).withUnsafeBytes { bytes in
            for _ in 0..<40 { buffer.append(bytes) }
        }
        #expect(buffer.capacity == capacity)
        #expect(buffer.take().count == 40 << 20)
    }

    @Test func noMoreRoomIsTakenThanTheReaderAccepts() {
        #expect(WholeBodyBuffer(upTo: 20 << 20, expecting: 1 << 40).capacity < 21 << 20)
    }

    /// A server may announce what it likes: memory is taken where bytes come.
    @Test func whatIsAnnouncedTakesNoMemory() {
        let buffers = (0..<16).map { _ in WholeBodyBuffer(upTo: .max, expecting: 256 << 20) }
        #expect(buffers.allSatisfy { $0.capacity >= 256 << 20 })  // in all more than a machine may have
    }

    /// What no system has room for is not asked for at once: an array that does not get its room ends the process.
    @Test(arguments: [1 << 50, Int64.max])
    func whatCannotBeThereGrowsAsItComes(announced: Int64) {
        var buffer = WholeBodyBuffer(upTo: .max, expecting: announced)
        #expect(buffer.capacity < 512 << 20)
        [1, 2, 3].withUnsafeBytes { buffer.append($0) }
        #expect(buffer.capacity < 512 << 20)
    }

    /// A producer and a reader on different threads.
    @Test(arguments: 0..<20)
    func nothingIsLostBetweenThreads(round: Int) async throws {
        let mailbox = Mailbox(1, of: Supplier(), lowMark: 4)
        let producer = Task.detached { [pool] in
            for number in 0..<500 {
                [UInt8](repeating: UInt8(number % 251), count: 100).withUnsafeBytes { bytes in
                    mailbox.offer(bytes, expecting: nil, from: pool) { _ in true }
                }
                mailbox.flush(isPaused: false).resumption?.resume()
                if number % (round + 1) == 0 { await Task.yield() }
            }
            mailbox.finish(throwing: nil)?.resume()
        }
        guard case .whole(let bytes) = try await mailbox.gather(upTo: 50_000, expecting: nil)
        else {
            Issue.record("not whole")
            return
        }
        await producer.value
        #expect(bytes == (0..<500).flatMap { [UInt8](repeating: UInt8($0 % 251), count: 100) })
    }
}
