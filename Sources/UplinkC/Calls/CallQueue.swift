// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import UplinkCore
import UplinkEventLoop

/// The shell of ``CallMachine``: its lock, the descriptor that wakes threads, and the running of callbacks.
final class CallQueue: Sendable {
    private struct State {
        var machine = CallMachine()
        /// The `eventfd`; -1 after the end.
        var descriptor: CInt
        /// Whether the descriptor is readable.
        var isReadable = false
        /// Whether a thread is in ``CallQueue/dispatch()``.
        var isDispatching = false
        /// Opened when a callback that another thread waits for has returned.
        var idle: Latch?
    }

    private let state: Locked<State>

    /// Creates a queue; nil when the system has no descriptor left.
    init?() {
        let descriptor = uplink_eventfd()
        guard descriptor >= 0 else { return nil }
        state = Locked(State(descriptor: descriptor))
    }

    deinit { shut() }

    /// Closes the descriptor when nothing will ever come again.
    func shut() {
        state.withLock { state in
            if state.descriptor >= 0 { close(state.descriptor) }
            state.descriptor = -1
        }
    }

    /// Readable while there are callbacks to run.
    var descriptor: CInt { state.withLock { $0.descriptor } }

    /// Whether the caller is in a callback.
    var isRunningHere: Bool {
        state.withLock { state in state.machine.runner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Changes the machine, then brings the descriptor up to date.
    func update<Result: Sendable>(_ body: (inout CallMachine) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state.machine)
            Self.tell(&state)
            return result
        }
    }

    /// The call with this id, if it has not ended.
    func call(_ id: CallMachine.ID) -> (any Call)? { state.withLock { $0.machine.call(id) } }

    private static func tell(_ state: inout State) {
        let isReadable = state.machine.isReadable
        guard isReadable != state.isReadable, state.descriptor >= 0 else { return }
        state.isReadable = isReadable
        if isReadable {
            eventfd_write(state.descriptor, 1)
        } else {
            var count: UInt64 = 0
            eventfd_read(state.descriptor, &count)
        }
    }

    // MARK: Running

    /// Runs the callbacks that are due, and returns how many ran, or an error.
    func dispatch() -> CInt {
        let waiting = state.withLock { state -> Int? in
            guard !state.isDispatching, state.machine.runner == nil else { return nil }
            state.isDispatching = true
            return state.machine.waiting
        }
        guard var left = waiting else { return Status.busy }
        defer { state.withLock { $0.isDispatching = false } }
        var count: CInt = 0
        while left > 0 {
            left -= 1
            switch step() {
            case .ran: count += 1
            case .dropped: break
            case .idle, .finished: return count
            case .busy: return count == 0 ? Status.busy : count
            }
        }
        return count
    }

    /// Runs callbacks until nothing will ever come again.
    func runUntilFinished() {
        while true {
            switch step() {
            case .ran, .dropped: break
            case .idle: awaitReadable()
            case .busy: awaitOther()
            case .finished: return
            }
        }
    }

    private enum Stepped { case ran, dropped, idle, busy, finished }

    private func step() -> Stepped {
        switch update({ $0.next(on: pthread_self()) }) {
        case .run(let delivery):
            delivery.run()
            ran()
            return .ran
        case .drop(let delivery):
            delivery.drop()
            return .dropped
        case .wait: return .idle
        case .waitForOther: return .busy
        case .finished: return .finished
        }
    }

    private func ran() {
        let idle = state.withLock { state in
            state.machine.ran()
            Self.tell(&state)
            defer { state.idle = nil }
            return state.idle
        }
        idle?.open()
    }

    private func awaitReadable() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while Glibc.poll(&poll, 1, -1) < 0, errno == EINTR {}
    }

    private func awaitOther() {
        let latch = Latch()
        let isBusy = state.withLock { state in
            guard state.machine.runner != nil else { return false }
            state.idle = latch
            return true
        }
        if isBusy { latch.wait() }
    }
}
