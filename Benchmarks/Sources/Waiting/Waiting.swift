// SPDX-License-Identifier: Apache-2.0
import Harness
import Synchronization
import UplinkCore
import UplinkTesting

/// Operations that wait on one performer.
enum Waiting {
    static func woken<C: Clock>(
        _ run: Run, clock: C, limit: Double = .infinity
    ) async throws where C.Duration == Duration {
        let monitor = StubNetworkMonitor(.offline())
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let ran = Counter()
        run.begin()
        let tasks = makeTasks(run.count) { _ in
            _ = await performer.perform(withinSeconds: limit) { ran.add() }
        }
        try await until { performer.statistics.waiting == run.count }
        run.noteBytes("held")
        run.mark("entering")
        monitor.goOnline()
        for task in tasks { await task.value }
        run.mark("waking")
        run.end()
        try run.check(ran.value == run.count)
    }

    static func cancelled<C: Clock>(
        _ run: Run, clock: C, limit: Double = .infinity
    ) async throws where C.Duration == Duration {
        let monitor = StubNetworkMonitor(.offline())
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let ran = Counter()
        run.begin()
        let tasks = makeTasks(run.count) { _ in
            _ = await performer.perform(withinSeconds: limit) { ran.add() }
        }
        try await until { performer.statistics.waiting == run.count }
        run.noteBytes("held")
        run.mark("entering")
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        run.mark("cancelling")
        run.end()
        try run.check(ran.value == 0 && performer.statistics.waiting == 0)
    }
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}
