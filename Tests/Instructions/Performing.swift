// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop
import UplinkTesting

/// Calls of the performer.
enum Performing {
    /// One after the other, with the network there: nothing suspends.
    static func online(_ count: Int) async throws {
        let performer = NetworkOperationPerformer(monitor: StubNetworkMonitor(.online()))
        var ran = 0
        for _ in 0..<count { try await performer.perform(within: .seconds(3)) { ran += 1 } }
        try check(ran == count)
    }

    /// The same, each in a task of its own on a loop.
    static func inTasks(_ count: Int) async throws {
        let performer = NetworkOperationPerformer(monitor: StubNetworkMonitor(.online()))
        try await withEventLoop { loop in
            try await withTaskExecutorPreference(loop) {
                for _ in 0..<count {
                    let task = Task(executorPreference: loop) { try await performer.perform(within: .seconds(3)) { 1 } }
                    try check(try await task.value == 1)
                }
            }
        }
    }

    /// A hundred at a time wait with a limit, and are woken by the network. All is done on one thread, the loop's, so
    /// that each run is like the other.
    static func woken(_ count: Int) async throws {
        try await withEventLoop { loop in
            let monitor = StubNetworkMonitor(.offline())
            let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop))
            try await withTaskExecutorPreference(loop) {
                for start in stride(from: 0, to: count, by: 100) {
                    let number = min(100, count - start)
                    let tasks = (0..<number).map { _ in
                        Task(executorPreference: loop) { try await performer.perform(within: .seconds(3600)) { 1 } }
                    }
                    while performer.statistics.waiting < number { await Task.yield() }
                    monitor.goOnline()
                    var ran = 0
                    for task in tasks { ran += try await task.value }
                    monitor.goOffline()
                    try check(ran == number)
                }
            }
        }
    }
}
