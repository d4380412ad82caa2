// SPDX-License-Identifier: Apache-2.0

/// A call on its way from its place among the waiting calls to its operation.
///
/// Very many calls may wait, so what each async function keeps across a suspension adds up. All frames of a waiting
/// call should fit into the one slab of memory that its task has anyway. They therefore keep this reference and little
/// else: paths and errors stay in functions that are not async, and closures that capture a single reference need no
/// memory of their own.
final class PerformerCall: Sendable {
    /// The reason why an operation never runs, as a reference.
    final class Refusal: Error {
        let error: NetworkOperationError

        init(_ error: NetworkOperationError) { self.error = error }
    }

    private let core: PerformerCore
    private let id: PerformerMachine.ID

    init(_ id: PerformerMachine.ID, of core: PerformerCore) { (self.id, self.core) = (id, core) }

    /// Waits in the caller's task until the network is available, and checks it a last time before the operation.
    ///
    /// Returns without suspending when the network is known to be available.
    @inline(__always)
    nonisolated(nonsending) func admit() async -> Result<PerformerCore.Admission, Refusal> {
        while true {
            if let outcome = proceed() { return outcome }
            await suspend()
        }
    }

    /// Begins, or returns nil when there is something to wait for.
    ///
    /// A call takes its place before it looks at the path, so that a path which arrives after the look finds it there.
    @inline(never)
    private func proceed() -> Result<PerformerCore.Admission, Refusal>? {
        var isSuperseded = false
        while true {
            let start: PerformerMachine.Start
            switch core.machine.withLock({ $0.standing(of: id) }) {
            case .denied: start = begin(nil)
            case .granted(let requirement):
                start = begin(path(asTold: isSuperseded).map { PerformerMachine.Look($0, requirement) })
            case .undecided(let requirement):
                guard let path = path(asTold: isSuperseded) else { return nil }
                let look = PerformerMachine.Look(path, requirement)
                guard look.isEnough else {
                    core.answer([(id, look)], seen: path)
                    return nil
                }
                if core.tellOthers(than: id, path) { continue }
                start = begin(look)
            }
            switch start {
            case .started(let slot): return .success(PerformerCore.Admission(id: id, slot: slot))
            case .notStarted(let error): return .failure(Refusal(error))
            case .superseded: isSuperseded = true
            case .lookAgain: break
            case .wait: return nil
            }
        }
    }

    /// The newest path: the monitor's current one or, where that is behind, the one most recently published to the
    /// performer.
    @inline(__always)
    private func path(asTold isTold: Bool) -> NetworkPath? {
        guard isTold, let told = core.machine.withLock(\.lastPath) else { return core.monitor.currentPath }
        return told
    }

    /// Takes the first look immediately, for a task that may begin late.
    func look(at start: Int64) {
        guard case .undecided(let requirement) = core.machine.withLock({ $0.standing(of: id) }) else { return }
        guard let path = core.monitor.currentPath else { return core.machine.withLock { $0.hadNoPath(id) } }
        let look = PerformerMachine.Look(path, requirement)
        if look.isEnough { _ = core.tellOthers(than: id, path) }  // they came earlier
        core.answer([(id, look)], seen: path, now: start)
    }

    /// Asks the machine for the final decision. `look` is nil when the path is not known.
    private func begin(_ look: PerformerMachine.Look?) -> PerformerMachine.Start {
        let now = core.clock.now()
        let graceEnd = core.graceEnd(from: now)
        let (start, actions) = core.machine.withLock {
            $0.begin(id, look: look, isCancelled: Task.isCancelled, now: now, graceEnd: graceEnd)
        }
        core.perform(actions)
        return start
    }

    @inline(__always)
    private nonisolated(nonsending) func suspend() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { park(Suspension($0)) }
        } onCancel: {
            cancel()
        }
    }

    @inline(never)
    private func park(_ continuation: PerformerMachine.Continuation) {
        core.perform(core.machine.withLock { $0.suspend(id, continuation) })
    }

    private func cancel() { core.perform(core.machine.withLock { $0.cancel(id) }) }
}

extension Result where Success == PerformerCall, Failure == PerformerCall.Refusal {
    /// Waits with the place that a call got, if it got one.
    @inline(__always)
    nonisolated(nonsending) func admitted() async -> Result<PerformerCore.Admission, Failure> {
        switch self {
        case .success(let call): await call.admit()
        case .failure(let refusal): .failure(refusal)
        }
    }
}
