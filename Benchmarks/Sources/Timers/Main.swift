// SPDX-License-Identifier: Apache-2.0
import Harness
import PlainC

/// Timers with a callback: pending ones that all fire, and ones that are armed and cancelled before they would.
@main
enum Main {
    /// The deadlines' spread, in nanoseconds.
    static let span: UInt64 = 2_000_000_000

    static func main() async {
        await Suite(
            "timers",
            [
                Experiment(
                    "timers-pending", title: "Timers over 0 to 2 s, all of which fire", operation: "timer",
                    subjects: [
                        Subject("plain C, one uv_timer_t each") { run in
                            try run.checked { plain_timers_pending(run.count, span) }
                        },
                        Subject("plain C, a heap under one uv_timer_t") { run in
                            try run.checked { plain_heap_pending(run.count, span) }
                        },
                        Subject("Uplink, LoopTimers") { try await UplinkTimers.pending($0) },
                        Subject("NIO, scheduleTask") { try await NIOTimers.pendingTasks($0) },
                        Subject("NIO, scheduleCallback") { try await NIOTimers.pendingCallbacks($0) },
                        Subject("Dispatch, one timer source each") { await DispatchTimers.pending($0) },
                    ]),
                Experiment(
                    "timers-cancelled", title: "Timers that are armed, then cancelled", operation: "timer",
                    subjects: [
                        Subject("plain C, one uv_timer_t each") { run in
                            try run.repeated { plain_timers_cancelled(run.count, span, $0) }
                        },
                        Subject("plain C, a heap under one uv_timer_t") { run in
                            try run.repeated { plain_heap_cancelled(run.count, span, $0) }
                        },
                        Subject("Uplink, LoopTimers") { try await UplinkTimers.cancelled($0) },
                        Subject("NIO, scheduleTask", limit: 100_000) { try await NIOTimers.cancelledTasks($0) },
                        Subject("NIO, scheduleCallback", limit: 100_000) { try await NIOTimers.cancelledCallbacks($0) },
                        Subject("Dispatch, one timer source each") { await DispatchTimers.cancelled($0) },
                    ]),
            ]
        ).main()
    }
}

extension Run {
    /// How often a short run is repeated, so that there is something to measure.
    var times: Int { max(1, 200_000 / count) }

    fileprivate func checked(_ body: () -> Int) throws {
        begin()
        let done = body()
        end()
        try check(done == count)
    }

    fileprivate func repeated(_ body: (_ times: Int) -> Int) throws {
        begin()
        let done = body(times)
        end(operations: count * times)
        try check(done == count * times)
    }
}

/// The delays, in the order in which every subject has them.
struct Delays {
    private var state = plain_seed
    mutating func next() -> Int { Int(plain_next_delay(&state, Main.span)) }
}
