// SPDX-License-Identifier: Apache-2.0
import Harness
import NIOCore
import NIOPosix
import PlainC
import UplinkEventLoop

/// Tasks that sleep until a deadline, beside C timers that have no task to wake.
@main
enum Main {
    /// The deadlines' spread, in nanoseconds.
    static let span: UInt64 = 2_000_000_000

    static func main() async {
        await Suite(
            "sleeps",
            [
                Experiment(
                    "sleeps", title: "Tasks that sleep for 0 to 2 s", operation: "sleep",
                    subjects: [
                        Subject("plain C, one uv_timer_t each, no tasks") { run in
                            run.begin()
                            let fired = plain_timers_pending(run.count, span)
                            run.end()
                            try run.check(fired == run.count)
                        },
                        Subject("LoopClock, unstructured tasks") { try await onLoopClock($0, asTasks) },
                        Subject("LoopClock, one task group", limit: 100_000) { try await onLoopClock($0, asGroup) },
                        Subject("Task.sleep, unstructured tasks") { try await onTaskClock($0, asTasks) },
                        Subject("Task.sleep, one task group", limit: 100_000) { try await onTaskClock($0, asGroup) },
                        Subject("NIO, scheduleTask's future") { try await onNIO($0, asTasks) },
                    ])
            ]
        ).main()
    }

    private typealias Sleep = @Sendable (Duration) async throws -> Void

    private static func onLoopClock(_ run: Run, _ form: (Run, @escaping Sleep) async throws -> Void) async throws {
        try await withEventLoop { loop in
            let clock = LoopClock(on: loop)
            try await form(run) { try await clock.sleep(for: $0) }
        }
    }

    private static func onTaskClock(_ run: Run, _ form: (Run, @escaping Sleep) async throws -> Void) async throws {
        try await form(run) { try await Task.sleep(for: $0) }
    }

    private static func onNIO(_ run: Run, _ form: (Run, @escaping Sleep) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        try await form(run) { duration in
            let delay = TimeAmount.nanoseconds(Int64(duration / .nanoseconds(1)))
            try await loop.scheduleTask(in: delay) {}.futureResult.get()
        }
        try await group.shutdownGracefully()
    }

    /// Tasks of their own, which are waited for one after the other.
    private static func asTasks(_ run: Run, _ sleep: @escaping Sleep) async throws {
        try await sleep(.milliseconds(1))
        try await run.measure {
            var delays = Delays()
            var tasks: [Task<Void, any Error>] = []
            tasks.reserveCapacity(run.count)
            for _ in 0..<run.count {
                let delay = delays.next()
                tasks.append(Task.detached { try await sleep(delay) })
            }
            for task in tasks { try await task.value }
        }
    }

    /// Children of one group.
    private static func asGroup(_ run: Run, _ sleep: @escaping Sleep) async throws {
        try await sleep(.milliseconds(1))
        try await run.measure {
            try await withThrowingDiscardingTaskGroup { group in
                var delays = Delays()
                for _ in 0..<run.count {
                    let delay = delays.next()
                    group.addTask { try await sleep(delay) }
                }
            }
        }
    }
}

/// The delays, in the order in which every subject has them.
private struct Delays {
    private var state = plain_seed
    mutating func next() -> Duration { .nanoseconds(Int64(plain_next_delay(&state, Main.span))) }
}
