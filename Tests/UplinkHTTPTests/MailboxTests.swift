// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct MailboxTests {
    private let pool = SlabPool()

    private func append(_ count: Int, to machine: inout MailboxMachine<Int>) {
        [UInt8](repeating: 1, count: count).withUnsafeBytes { machine.append($0, expecting: nil, from: pool) }
    }

    @Test func bytesComeInTheirOrderAndTogether() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        for byte in 0..<200 { [UInt8(byte)].withUnsafeBytes { machine.append($0, expecting: nil, from: pool) } }
        _ = machine.finish(.complete)
        guard case .chunk(let chunk, false) = machine.take() else {
            Issue.record("no chunk")
            return
        }
        #expect(chunk.bytes == (0..<200).map { UInt8($0) })
        guard case .end = machine.take() else {
            Issue.record("no end")
            return
        }
    }

    @Test func fullSlabsAreChunksOfTheirOwn() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append(2 * SlabPool.slabSize + 5, to: &machine)
        var counts: [Int] = []
        while case .chunk(let chunk, _) = machine.take() { counts.append(chunk.count) }
        #expect(counts == [SlabPool.slabSize, SlabPool.slabSize, 5])
    }

    /// A reader that is faster than the server, and keeps what it takes, keeps not much more than the bytes.
    @Test(arguments: [1, 1000, 20_000]) func chunksOfFewBytesHoldLittle(_ count: Int) {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append(SlabPool.slabSize, to: &machine)
        _ = machine.take()
        for _ in 0..<3 {
            append(count, to: &machine)
            guard case .chunk(let chunk, _) = machine.take() else {
                Issue.record("no chunk")
                return
            }
            #expect(chunk.bytes == [UInt8](repeating: 1, count: count))
            #expect(chunk.capacity <= 4 * count)
        }
    }

    /// Also while there is always more to take.
    @Test func whatHasBeenTakenIsNotKept() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append(SlabPool.slabSize, to: &machine)
        for _ in 0..<4 {
            append(SlabPool.slabSize, to: &machine)
            weak var taken: HTTPBody.Chunk?
            if case .chunk(let chunk, _) = machine.take() { taken = chunk }
            #expect(taken == nil)
            #expect(machine.bytes == SlabPool.slabSize)
        }
    }

    @Test func theOrderHoldsWhileChunksComeAndGo() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        var (brought, taken): ([UInt8], [UInt8]) = ([], [])
        for round in 0..<40 {
            for _ in 0...round % 3 {
                let byte = UInt8(brought.count)
                [UInt8](repeating: byte, count: SlabPool.slabSize).withUnsafeBytes {
                    machine.append($0, expecting: nil, from: pool)
                }
                brought.append(byte)
            }
            for _ in 0...round % 2 { if case .chunk(let chunk, _) = machine.take() { taken.append(chunk.bytes[0]) } }
        }
        while case .chunk(let chunk, _) = machine.take() { taken.append(chunk.bytes[0]) }
        #expect(taken == brought)
    }

    @Test func demandComesOnceAtTheLowMark() {
        var machine = MailboxMachine<Int>(lowMark: SlabPool.slabSize)
        append(2 * SlabPool.slabSize + 1, to: &machine)
        #expect(machine.flush(isPaused: true).demand == false)
        var demands: [Bool] = []
        while case .chunk(_, let demand) = machine.take() { demands.append(demand) }
        #expect(demands == [false, true, false])
        #expect(machine.bytes == 0)
    }

    /// The macro `#expect` does not call mutating methods.
    private func park(_ waiter: Int, in machine: inout MailboxMachine<Int>) -> Bool { machine.park(waiter) }

    @Test func whileMemoryIsShortDemandWaitsForTheEnd() {
        var machine = MailboxMachine<Int>(lowMark: SlabPool.slabSize)
        append(SlabPool.slabSize + 1, to: &machine)
        #expect(!machine.flush(isPaused: true, untilEmpty: true).demand)
        guard case .chunk(_, false) = machine.take() else {
            Issue.record("demand though one byte is left")
            return
        }
        guard case .chunk(_, true) = machine.take() else {
            Issue.record("no demand though all is taken")
            return
        }
    }

    @Test func whatIsHeldIsCountedUntilItIsTakenOrDropped() async throws {
        let budget = BufferBudget(limit: 100)
        var mailbox: Mailbox? = Mailbox(1, of: Supplier(), lowMark: 10, budget: budget)
        for count in [60, 50] {
            [UInt8](repeating: 1, count: count).withUnsafeBytes { mailbox?.append($0, expecting: nil, from: pool) }
        }
        #expect(budget.bytes == 110 && budget.isSpent)
        _ = try await mailbox?.next()
        #expect(budget.bytes == 0 && !budget.isSpent)
        [UInt8](repeating: 1, count: 70).withUnsafeBytes { mailbox?.append($0, expecting: nil, from: pool) }
        #expect(budget.bytes == 70)
        mailbox = nil
        #expect(budget.bytes == 0)
    }

    @Test func aWaiterIsWokenOnceForMuch() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        #expect(park(7, in: &machine))
        #expect(machine.flush(isPaused: false).waiter == nil)  // there is nothing yet
        append(50, to: &machine)
        append(50, to: &machine)
        let delivery = machine.flush(isPaused: true)
        #expect(delivery.waiter == 7)
        #expect(!delivery.demand)
        #expect(machine.flush(isPaused: true).waiter == nil)
        guard case .chunk(let chunk, true) = machine.take() else {
            Issue.record("no chunk, or no demand")
            return
        }
        #expect(chunk.count == 100)
    }

    // MARK: A reader on another thread

    private typealias Machine = MailboxMachine<Int>

    /// What is said at the end of a turn that has brought so much, while a reader waits; who is woken takes all of it.
    private func bring(
        _ count: Int, at now: Int64, to machine: inout Machine, isFar: Bool = true, isPaused: Bool = false
    ) -> String {
        _ = machine.park(7, isFar: isFar)
        append(count, to: &machine)
        let delivery = machine.flush(isPaused: isPaused, now: now)
        guard delivery.waiter != nil else { return delivery.isHeldBack ? "held back" : "asleep" }
        while case .chunk = machine.take() {}
        return delivery.isHeldBack ? "both" : "woken"
    }

    @Test func whoWasWokenAMomentAgoIsHeldBackUntilTheMomentIsOver() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = [0, 1, Machine.moment - 1, Machine.moment, Machine.moment + 1].map { now in
            bring(now == Machine.moment ? 0 : Machine.torrent, at: now, to: &machine)
        }
        #expect(said == ["woken", "held back", "held back", "woken", "held back"])
    }

    /// What a slow server sends reaches its reader in the turn in which it comes.
    @Test func littleWakesAReaderAtOnce() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<5).map { bring(Machine.torrent - 1, at: $0, to: &machine) }
        #expect(said.allSatisfy { $0 == "woken" })
    }

    @Test func muchAfterAWhileWakesAReaderAtOnce() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<5).map { bring(2 * Machine.torrent, at: $0 * Machine.moment, to: &machine) }
        #expect(said.allSatisfy { $0 == "woken" })
    }

    @Test func enoughWakesAReaderAtOnce() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<9).map { bring(Machine.torrent, at: $0, to: &machine) }
        let four = ["held back", "held back", "held back", "woken"]
        #expect(said == ["woken"] + four + four)
    }

    /// Which may be more than what is left when a paused transfer goes on.
    @Test func whatIsEnoughCanBeSaid() {
        var machine = Machine(lowMark: 2 * Machine.torrent, plenty: 3 * Machine.torrent)
        let said = (0..<7).map { bring(Machine.torrent, at: $0, to: &machine) }
        let three = ["held back", "held back", "woken"]
        #expect(said == ["woken"] + three + three)
    }

    @Test func aReaderWhoIsNearIsNotHeldBack() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<5).map { bring(Machine.torrent, at: $0, to: &machine, isFar: false) }
        #expect(said.allSatisfy { $0 == "woken" })
    }

    @Test func aPauseWakesAReaderAtOnce() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<5).map { bring(Machine.torrent, at: $0, to: &machine, isPaused: true) }
        #expect(said.allSatisfy { $0 == "woken" })
    }

    @Test func nobodyIsHeldBackByNothing() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        #expect([Machine.torrent, 0, 0].map { bring($0, at: 5, to: &machine) } == ["woken", "asleep", "asleep"])
    }

    @Test func theEndWakesWhoIsHeldBack() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<2).map { bring(Machine.torrent, at: $0, to: &machine) }
        #expect(said == ["woken", "held back"])
        #expect(machine.finish(.complete).waiter == 7)
    }

    @Test func withoutATimeNobodyIsHeldBack() {
        var machine = Machine(lowMark: 4 * Machine.torrent)
        let said = (0..<2).map { bring(Machine.torrent, at: $0, to: &machine) }
        #expect(said == ["woken", "held back"])
        #expect(machine.flush(isPaused: false).waiter == 7)
    }

    @Test func whoFindsSomethingNeedNotWait() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append(1, to: &machine)
        #expect(!park(1, in: &machine))
        _ = machine.take()
        #expect(park(1, in: &machine))
        #expect(machine.finish(.complete).waiter == 1)
        #expect(!park(1, in: &machine))
    }

    @Test func aReaderWhoIsFasterThanTheTurnIsNoticed() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append(100, to: &machine)
        _ = machine.take()
        #expect(machine.flush(isPaused: true).demand)
        #expect(!machine.flush(isPaused: false).demand)
    }

    @Test func aSecondWaiterIsTold() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        #expect(park(1, in: &machine))
        #expect(!park(2, in: &machine))
        guard case .busy = machine.take() else {
            Issue.record("not busy")
            return
        }
        #expect(machine.finish(.complete).waiter == 1)
    }

    @Test func aCancelledReaderWaitsForTheEngine() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        append(1, to: &machine)
        #expect(machine.cancel() == true)
        #expect(machine.cancel() == false)
        #expect(machine.bytes == 0)
        #expect(park(1, in: &machine))
        append(1, to: &machine)
        #expect(machine.flush(isPaused: false).waiter == nil)
        #expect(machine.finish(.failed(CancellationError())).waiter == 1)
        guard case .failure(let error) = machine.take() else {
            Issue.record("no failure")
            return
        }
        #expect(error is CancellationError)
    }

    @Test func whatIsOverNeedsNoCancelling() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = machine.finish(.complete)
        #expect(machine.cancel() == false)
        guard case .failure = machine.take() else {
            Issue.record("no failure")
            return
        }
    }

    /// A producer and a reader on different threads, with pauses: nothing is lost, nobody waits for ever.
    @Test func nothingIsLostBetweenThreads() async throws {
        let demands = Locked(0)
        let (stream, demanded) = AsyncStream<Void>.makeStream()
        let supplier = Supplier {
            demands.withLock { $0 += 1 }
            demanded.yield()
        }
        let mailbox = Mailbox(1, of: supplier, lowMark: 4)
        let producer = Task.detached { [pool] in
            var iterator = stream.makeAsyncIterator()
            for _ in 0..<5000 {
                [UInt8](repeating: 1, count: 5).withUnsafeBytes { mailbox.append($0, expecting: 5, from: pool) }
                let (resumption, demand, _) = mailbox.flush(isPaused: true)
                resumption?.resume()
                if !demand { _ = await iterator.next() }
            }
            mailbox.finish(throwing: nil)?.resume()
        }
        var total = 0
        while let chunk = try await mailbox.next() { total += chunk.count }
        await producer.value
        #expect(total == 25_000)
        #expect(demands.withLock { $0 } <= 5000)
    }
}

/// Whoever fills a mailbox of a test.
final class Supplier: MailboxSupplier {
    private let demanded: @Sendable () -> Void

    init(demanded: @escaping @Sendable () -> Void = {}) { self.demanded = demanded }

    func demand(for id: UInt64) { demanded() }

    func stop(_ id: UInt64) {}

    var isOnFillingThread: Bool { false }
}
