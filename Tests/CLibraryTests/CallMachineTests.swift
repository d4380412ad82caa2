// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import UplinkC

/// The order and the number of callbacks, with no thread and no context.
@Suite(.timeLimit(.minutes(1)))
struct CallMachineTests {
    private struct Nothing: Call {
        func cancel() {}
    }

    private let here = pthread_self()

    private func event(_ id: CallMachine.ID) -> CallMachine.Delivery { .init(kind: .event(id), run: {}) }
    private let end = CallMachine.Delivery(kind: .end, run: {})

    /// What a step is, without what it carries.
    private func name(_ step: CallMachine.Step) -> String {
        switch step {
        case .run(let delivery): "run \(delivery.kind)"
        case .drop: "drop"
        case .wait: "wait"
        case .waitForOther: "wait for other"
        case .finished: "finished"
        }
    }

    @Test func callbacksRunOneAfterTheOther() throws {
        var machine = CallMachine()
        let id = try #require(machine.add(Nothing()))
        #expect(machine.post(event(id)))
        machine.end(id, end)
        #expect(machine.isReadable)
        #expect(name(machine.next(on: here)) == "run event(1)")
        #expect(name(machine.next(on: here)) == "wait for other")
        machine.ran()
        #expect(name(machine.next(on: here)) == "run end")
        machine.ran()
        #expect(name(machine.next(on: here)) == "wait")
        #expect(!machine.isReadable)
    }

    @Test func aCallEndsOnce() throws {
        var machine = CallMachine()
        let id = try #require(machine.add(Nothing()))
        machine.end(id, end)
        machine.end(id, end)
        #expect(machine.waiting == 1)
        #expect(machine.cancel(id) == nil)
        #expect(machine.isCancelled(id) == nil)
    }

    @Test func idsAreNeverUsedAgain() throws {
        var machine = CallMachine()
        var ids: Set<CallMachine.ID> = []
        for _ in 0..<100 {
            let id = try #require(machine.add(Nothing()))
            #expect(ids.insert(id).inserted)
            machine.end(id, nil)
        }
        #expect(machine.count == 0)
    }

    @Test func afterCancellingOnlyTheEndComes() throws {
        var machine = CallMachine()
        let id = try #require(machine.add(Nothing()))
        #expect(machine.post(event(id)))
        #expect(machine.cancel(id) != nil)
        #expect(!machine.post(event(id)))
        machine.end(id, end)
        #expect(name(machine.next(on: here)) == "drop")
        #expect(name(machine.next(on: here)) == "run end")
    }

    @Test func closingIsFinishedWhenAllCallsHaveEndedAndAllCallbacksHaveRun() throws {
        var machine = CallMachine()
        let id = try #require(machine.add(Nothing()))
        #expect(machine.close()?.count == 1)
        #expect(machine.close() == nil)
        #expect(machine.add(Nothing()) == nil)
        #expect(machine.isCancelled(id) == true)
        #expect(name(machine.next(on: here)) == "wait")
        machine.end(id, end)
        #expect(name(machine.next(on: here)) == "run end")
        #expect(!machine.isReadable)  // the callback still runs
        machine.ran()
        #expect(machine.isReadable)
        #expect(name(machine.next(on: here)) == "finished")
    }

    @Test func tooManyMessagesAreCountedAndNotKept() {
        var machine = CallMachine()
        var lost: [Int] = []
        func log() {
            machine.log { count in
                lost.append(count)
                return .init(kind: .log, run: {})
            }
        }
        for _ in 0..<CallMachine.maximumLogs + 5 { log() }
        #expect(machine.waiting == CallMachine.maximumLogs)
        #expect(lost.allSatisfy { $0 == 0 })
        #expect(name(machine.next(on: here)) == "run log")
        machine.ran()
        log()
        #expect(lost.last == 5)
    }

    @Test func tenThousandComeInTheirOrder() throws {
        var machine = CallMachine()
        for _ in 0..<10_000 { _ = machine.add(Nothing()) }
        for id in 1...10_000 { #expect(machine.post(event(CallMachine.ID(id)))) }
        for id in 1...10_000 {
            #expect(name(machine.next(on: here)) == "run event(\(id))")
            machine.ran()
        }
    }
}
