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

    /// The machine as a reference, because expectations cannot change values.
    private final class Subject {
        var machine = CallMachine()
        private let here = pthread_self()

        /// What the next step is, without what it carries.
        func next() -> String {
            switch machine.next(on: here) {
            case .run(let delivery): "run \(delivery.kind)"
            case .drop: "drop"
            case .wait: "wait"
            case .waitForOther: "wait for other"
            case .finished: "finished"
            }
        }

        func add() throws -> CallMachine.ID {
            let id = machine.add(Nothing())
            return try #require(id)
        }
        func post(_ event: CallMachine.Delivery) -> Bool { machine.post(event) }
        func end(_ id: CallMachine.ID, _ last: CallMachine.Delivery?) { machine.end(id, last) }
        func cancel(_ id: CallMachine.ID) -> Bool { machine.cancel(id) != nil }
        func close() -> Int? { machine.close()?.count }
        func ran() { machine.ran() }
        func isCancelled(_ id: CallMachine.ID) -> Bool? { machine.isCancelledForProgram(id) }
        var isReadable: Bool { machine.isReadable }
        var isClosed: Bool { machine.add(Nothing()) == nil }
        var waiting: Int { machine.waiting }
    }

    private func event(_ id: CallMachine.ID) -> CallMachine.Delivery { .init(kind: .event(id), run: {}) }
    private let end = CallMachine.Delivery(kind: .end, run: {})

    /// Its callback may take long, and wants to know. One that ended by itself is gone, whatever becomes of the
    /// context.
    @Test(arguments: ["cancelled", "closed", "ended"])
    func aCallStaysCancelledWhileItsCallbackRuns(cause: String) throws {
        let machine = Subject()
        let id = try machine.add()
        #expect(machine.post(event(id)))
        #expect(machine.next() == "run event(1)")
        if cause == "cancelled" { #expect(machine.cancel(id)) }
        if cause == "closed" { #expect(machine.close() == 1) }
        machine.end(id, end)
        #expect(machine.isCancelled(id) == (cause == "ended" ? nil : true))
        if cause == "ended" { #expect(machine.close() == 0) }
        #expect(machine.isCancelled(id) == (cause == "ended" ? nil : true))
        machine.ran()
        #expect(machine.isCancelled(id) == nil)
        #expect(machine.next() == "run end")
    }

    @Test func callbacksRunOneAfterTheOther() throws {
        let machine = Subject()
        let id = try machine.add()
        #expect(machine.post(event(id)))
        #expect(machine.isReadable)
        #expect(machine.next() == "run event(1)")
        machine.end(id, end)
        #expect(machine.next() == "wait for other")
        machine.ran()
        #expect(machine.next() == "run end")
        machine.ran()
        #expect(machine.next() == "wait")
        #expect(!machine.isReadable)
    }

    @Test func aCallEndsOnce() throws {
        let machine = Subject()
        let id = try machine.add()
        machine.end(id, end)
        machine.end(id, end)
        #expect(machine.waiting == 1)
        #expect(!machine.cancel(id))
        #expect(machine.isCancelled(id) == nil)
    }

    @Test func idsAreNeverUsedAgain() throws {
        let machine = Subject()
        var ids: Set<CallMachine.ID> = []
        for _ in 0..<100 {
            let id = try machine.add()
            let (isNew, _) = ids.insert(id)
            #expect(isNew)
            machine.end(id, nil)
        }
        #expect(machine.machine.count == 0)
    }

    @Test func afterCancellingOnlyTheEndComes() throws {
        let machine = Subject()
        let id = try machine.add()
        #expect(machine.post(event(id)))
        #expect(machine.cancel(id))
        #expect(!machine.post(event(id)))
        machine.end(id, end)
        #expect(machine.next() == "drop")
        #expect(machine.next() == "run end")
    }

    @Test func closingIsFinishedWhenAllCallsHaveEndedAndAllCallbacksHaveRun() throws {
        let machine = Subject()
        let id = try machine.add()
        #expect(machine.close() == 1)
        #expect(machine.close() == nil)
        #expect(machine.isClosed)
        #expect(machine.isCancelled(id) == true)
        #expect(machine.next() == "wait")
        machine.end(id, end)
        #expect(machine.next() == "run end")
        #expect(!machine.isReadable)  // the callback still runs
        machine.ran()
        #expect(machine.isReadable)
        #expect(machine.next() == "finished")
    }

    @Test func tooManyMessagesAreCountedAndNotKept() {
        let machine = Subject()
        var lost: [Int] = []
        func log() {
            machine.machine.log { count in
                lost.append(count)
                return .init(kind: .log, run: {})
            }
        }
        for _ in 0..<CallMachine.maximumLogs + 5 { log() }
        #expect(machine.waiting == CallMachine.maximumLogs)
        #expect(lost.allSatisfy { $0 == 0 })
        #expect(machine.next() == "run log")
        machine.ran()
        log()
        #expect(lost.last == 5)
    }

    @Test func tenThousandComeInTheirOrder() throws {
        let machine = Subject()
        for _ in 0..<10_000 { _ = try machine.add() }
        for id in 1...10_000 { #expect(machine.post(event(CallMachine.ID(id)))) }
        for id in 1...10_000 {
            #expect(machine.next() == "run event(\(id))")
            machine.ran()
        }
    }
}
