// SPDX-License-Identifier: Apache-2.0
import Harness
import NIOCore
import NIOPosix
import PlainC
import UplinkEventLoop

/// Calls of an actor that lives on an event loop, one after the other: from the default pool, where each costs two
/// changes of threads, and from a task that prefers the loop, where it costs none.
@main
enum Main {
    static func main() async {
        await Suite(
            "hops",
            [
                Experiment(
                    "round-trips", title: "Calls of an actor on the loop, from the default pool", operation: "call",
                    counts: [100_000], columns: [.wall],
                    subjects: [
                        Subject("plain C, two threads, uv_async_send each way") { run in
                            run.begin()
                            let done = plain_round_trips(run.count)
                            run.end()
                            try run.check(done == run.count)
                        },
                        Subject("Uplink, EventLoop") { run in
                            try await withEventLoop { try await call(OnUplink($0), run) }
                        },
                        Subject("NIO, the event loop as an executor") { run in
                            try await withNIO { try await call(OnNIO($0), run) }
                        },
                        Subject("an actor of the default pool") { try await call(OnPool(), $0) },
                    ]),
                Experiment(
                    "hops-on-the-loop", title: "Calls of an actor on the loop, from the same loop", operation: "call",
                    counts: [1_000_000], columns: [.wall],
                    subjects: [
                        Subject("an actor of the default pool, from the pool") { try await call(OnPool(), $0) },
                        Subject("Uplink, from a task that prefers the loop") { run in
                            try await withEventLoop { loop in
                                let actor = OnUplink(loop)
                                try await withTaskExecutorPreference(loop) { try await call(actor, run) }
                            }
                        },
                        Subject("Uplink, from another actor on the loop") { run in
                            try await withEventLoop { loop in
                                try await OnUplink(loop).call(OnUplink(loop), run)
                            }
                        },
                        Subject("NIO, from another actor on the event loop") { run in
                            try await withNIO { loop in try await OnNIO(loop).call(OnNIO(loop), run) }
                        },
                    ]),
            ]
        ).main()
    }

    @concurrent private static func call(_ actor: some CountingActor, _ run: Run) async throws {
        for _ in 0..<100 { await actor.hit() }
        run.begin()
        for _ in 0..<run.count { await actor.hit() }
        run.end()
        try run.check(await actor.hits == run.count + 100)
    }

    private static func withNIO(_ body: (any NIOCore.EventLoop) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await body(group.next())
        try await group.shutdownGracefully()
    }
}
