// SPDX-License-Identifier: Apache-2.0
import CUplink
import UplinkCore

/// An operation that a program wants to run when the network is there.
final class PerformCall: Call {
    /// The state of the operation.
    enum Progress: Equatable {
        /// Its callback has not been called.
        case notBegun
        /// Its callback has been called, but has not reported that it is complete.
        case running
        /// It is complete, with this number.
        case complete(CInt)
        /// The call is over; it is too late for anything else.
        case over
    }

    /// What a program is told at the end.
    private struct Ending: Sendable {
        var status: CInt
        var isStarted = false
        var result: CInt = 0
        var message: String
    }

    private let task = CallTask()
    /// Raised when the operation is complete or will never begin.
    private let settled = Signal()
    private let progress = Locked(Progress.notBegun)
    private let operation: uplink_operation_cb
    private let outcome: uplink_outcome_cb
    private let user: UserPointer

    init(_ operation: uplink_operation_cb, _ outcome: uplink_outcome_cb, _ user: UserPointer) {
        (self.operation, self.outcome, self.user) = (operation, outcome, user)
    }

    /// The result of an operation that has begun stands, so it is not disturbed.
    func cancel() { task.cancel() }

    func stop() {
        task.cancel()
        settled.end()
    }

    func complete(_ result: CInt) -> Bool {
        let wasRunning = progress.withLock { progress in
            guard progress == .running else { return false }
            progress = .complete(result)
            return true
        }
        if wasRunning { settled.raise() }
        return wasRunning
    }

    func start(
        _ id: CallMachine.ID, in context: Context, seconds: Double, requiring requirement: NetworkRequirement
    ) {
        task.start(on: context) {
            let result = await context.performer.perform(withinSeconds: seconds, requiring: requirement) {
                await self.run(id, in: context)
            }
            self.end(id, in: context, self.ending(of: result, in: context))
        }
    }

    /// Begins the operation, and waits until it is complete.
    private func run(_ id: CallMachine.ID, in context: Context) async {
        let event = CallMachine.Delivery(kind: .event(id)) { [self] in
            if begin() { operation(context.pointer, id, user.pointer) }
        } drop: { [settled] in
            settled.raise()
        }
        guard context.queue.update({ $0.post(event) }) else { return }
        await settled.wait()
    }

    /// Whether the operation may begin: not if the context ended before it got here.
    private func begin() -> Bool {
        progress.withLock { progress in
            guard progress == .notBegun else { return false }
            progress = .running
            return true
        }
    }

    private func ending(of result: Result<Void, PerformFailure<Never>>, in context: Context) -> Ending {
        if case .failure(.notStarted(let error)) = result {
            let status = Status.of(error, in: context)
            let isAboutContext = status == Status.stopped
            return Ending(status: status, message: isAboutContext ? Status.text(status) : Advice.inC(error.message))
        }
        let last = progress.withLock { progress in
            defer { progress = .over }
            return progress
        }
        switch last {
        case .complete(let number):
            return Ending(status: Status.ok, isStarted: true, result: number, message: Status.text(Status.ok))
        case .running: return Ending(status: Status.stopped, isStarted: true, message: Status.text(Status.stopped))
        case .notBegun, .over:
            let status = context.cancellation
            return Ending(status: status, message: Status.text(status))
        }
    }

    private func end(_ id: CallMachine.ID, in context: Context, _ ending: Ending) {
        let last = CallMachine.Delivery(kind: .end) { [outcome, user] in
            ending.message.withCString { message in
                var told = uplink_outcome(
                    size: MemoryLayout<uplink_outcome>.size, status: ending.status, started: ending.isStarted,
                    result: ending.result, message: message)
                outcome(context.pointer, id, &told, user.pointer)
            }
        }
        context.end(id, "perform", ending.status, ending.message, last)
    }
}
