// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct MailboxTests {
    private func chunk(_ count: Int) -> HTTPBody.Chunk { HTTPBody.Chunk([UInt8](repeating: 1, count: count)) }

    @Test func chunksComeInTheirOrder() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = machine.publish([chunk(1), chunk(2)], isPaused: false)
        _ = machine.publish([chunk(3)], isPaused: false)
        _ = machine.finish(.complete)
        for count in 1...3 {
            guard case .chunk(let chunk, false) = machine.take() else {
                Issue.record("no chunk")
                return
            }
            #expect(chunk.count == count)
        }
        guard case .end = machine.take() else {
            Issue.record("no end")
            return
        }
    }

    @Test func demandComesOnceAtTheLowMark() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        #expect(!machine.publish([chunk(10), chunk(10), chunk(1)], isPaused: true).demand)
        var demands: [Bool] = []
        while case .chunk(_, let demand) = machine.take() { demands.append(demand) }
        #expect(demands == [false, true, false])
        #expect(machine.bytes == 0)
    }

    @Test func aWaiterGetsTheChunkAndTheEngineTheDemand() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        guard case .wait = machine.park(7) else {
            Issue.record("not parked")
            return
        }
        let delivery = machine.publish([chunk(100)], isPaused: true)
        #expect(delivery.waiter == 7)
        #expect(delivery.demand)
    }

    @Test func aSecondWaiterIsTold() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = machine.park(1)
        guard case .busy = machine.park(2) else {
            Issue.record("not busy")
            return
        }
        #expect(machine.finish(.complete).waiter == 1)
    }

    @Test func aCancelledReaderWaitsForTheEngine() {
        var machine = MailboxMachine<Int>(lowMark: 10)
        _ = machine.publish([chunk(1)], isPaused: false)
        #expect(machine.cancel() == true)
        #expect(machine.cancel() == false)
        #expect(machine.bytes == 0)
        guard case .wait = machine.park(1) else {
            Issue.record("not parked")
            return
        }
        let delivery = machine.finish(.failed(CancellationError()))
        #expect(delivery.waiter == 1)
        guard case .failure(let error) = delivery.taking else {
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
        let mailbox = Mailbox(lowMark: 4)
        let demands = Locked(0)
        let (stream, demanded) = AsyncStream<Void>.makeStream()
        let producer = Task.detached {
            var iterator = stream.makeAsyncIterator()
            for _ in 0..<5000 {
                let (resumption, demand) = mailbox.publish([HTTPBody.Chunk([1, 2, 3, 4, 5])], isPaused: true)
                resumption?.resume()
                if !demand { _ = await iterator.next() }
            }
            mailbox.finish(throwing: nil)?.resume()
        }
        var total = 0
        while let chunk = try await mailbox.next(
            demand: {
                demands.withLock { $0 += 1 }
                demanded.yield()
            }, stop: {})
        { total += chunk.count }
        await producer.value
        #expect(total == 25_000)
        #expect(demands.withLock { $0 } <= 5000)
    }
}
