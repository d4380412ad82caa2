// SPDX-License-Identifier: Apache-2.0

// What reaches the performer from the monitor and the clock while calls wait, and the machine's actions.

extension PerformerCore {
    func perform(_ actions: PerformerMachine.Actions) {
        for continuation in actions.resumptions { continuation.resume() }
        for cancel in actions.cancellations { cancel() }
        for task in actions.retired { task.cancel() }
        if let number = actions.subscribe {
            let task = Task.detached(executorPreference: executor) { await self.watchPaths(as: number) }
            machine.withLock { $0.subscribed(number, task) }?.cancel()
        }
        if let (deadline, number) = actions.arm {
            let task = Task.detached(executorPreference: executor) { await self.sleep(until: deadline, as: number) }
            machine.withLock { $0.armed(number, task) }?.cancel()
        }
    }

    /// - Parameter path: The path that a call has read by itself, perhaps before the monitor has published anything.
    func answer(
        _ answers: [(PerformerMachine.ID, PerformerMachine.Look)], seen path: NetworkPath? = nil, now: Int64? = nil
    ) {
        let now = now ?? clock.now()
        let actions = machine.withLock { machine in
            if let path { machine.saw(path) }
            return machine.answered(answers, now: now)
        }
        perform(actions)
    }

    private func pathArrived(_ path: NetworkPath, subscription number: UInt64) {
        tell(path, to: machine.withLock { $0.pathArrived(path, subscription: number) })
    }

    /// Passes a path that a call has read by itself on to all other waiting calls that do not know it yet. Otherwise
    /// the call would overtake them to a free slot.
    ///
    /// - Returns: Whether there were such calls.
    func tellOthers(than id: PerformerMachine.ID, _ path: NetworkPath) -> Bool {
        guard isLimited else { return false }
        let ids = machine.withLock { $0.overtaken(by: id, on: path.generation) }
        tell(path, to: ids)
        return !ids.isEmpty
    }

    /// Requirements may be user code, so they are evaluated without the lock; and in batches, so that the cost per call
    /// does not grow with their number.
    private func tell(_ path: NetworkPath, to all: [PerformerMachine.ID]) {
        var ids = all[...]
        while !ids.isEmpty {
            let (waiting, watching) = machine.withLock { $0.questions(of: ids.prefix(1024)) }
            ids = ids.dropFirst(1024)
            answer(waiting.map { id, requirement in (id, PerformerMachine.Look(path, requirement)) })
            if watching.isEmpty { continue }
            // The newest path, since an operation may have begun on one newer than `path`.
            let newest = monitor.currentPath ?? path
            let lost = watching.filter { !$0.1.isSatisfied(by: newest) }.map(\.0)
            perform(machine.withLock { $0.lost(lost) })
        }
        if isLimited, !all.isEmpty { machine.withLock { $0.told(path.generation) } }
    }

    private func watchPaths(as number: UInt64) async {
        var failure: NetworkMonitorError?
        do throws(NetworkMonitorError) {
            for try await path in monitor.paths { pathArrived(path, subscription: number) }
        } catch {
            failure = error
        }
        perform(machine.withLock { $0.pathsEnded(failure, subscription: number) })
    }

    private func sleep(until deadline: Int64, as number: UInt64) async {
        guard (try? await clock.sleep(until: deadline)) != nil else { return }
        let now = clock.now()
        perform(machine.withLock { $0.alarmWentOff(number, now: now) })
    }
}
