// SPDX-License-Identifier: Apache-2.0
import Harness
import NIOCore
import NIOPosix

/// The work with NIO's scheduled tasks and callbacks, from the event loop's own thread.
enum NIOTimers {
    static func pendingTasks(_ run: Run) async throws {
        try await onLoop { loop in
            run.begin()
            try await loop.flatSubmit {
                let (counter, promise) = Counter.make(run.count, on: loop)
                var delays = Delays()
                for _ in 0..<run.count {
                    _ = loop.scheduleTask(in: .nanoseconds(Int64(delays.next()))) { counter.hit() }
                }
                return promise.futureResult
            }.get()
            run.end()
        }
    }

    static func pendingCallbacks(_ run: Run) async throws {
        try await onLoop { loop in
            run.begin()
            try await loop.flatSubmit {
                let (counter, promise) = Counter.make(run.count, on: loop)
                var delays = Delays()
                for _ in 0..<run.count {
                    _ = try? loop.scheduleCallback(in: .nanoseconds(Int64(delays.next())), handler: counter)
                }
                return promise.futureResult
            }.get()
            run.end()
        }
    }

    static func cancelledTasks(_ run: Run) async throws {
        try await onLoop { loop in
            run.begin()
            try await loop.submit {
                for _ in 0..<run.times {
                    var delays = Delays()
                    let scheduled = (0..<run.count).map { _ in
                        loop.scheduleTask(in: .hours(1) + .nanoseconds(Int64(delays.next()))) {}
                    }
                    for task in scheduled { task.cancel() }
                }
            }.get()
            run.end(operations: run.count * run.times)
        }
    }

    static func cancelledCallbacks(_ run: Run) async throws {
        try await onLoop { loop in
            run.begin()
            try await loop.submit {
                let (counter, promise) = Counter.make(run.count, on: loop)
                for _ in 0..<run.times {
                    var delays = Delays()
                    let scheduled = try (0..<run.count).map { _ in
                        try loop.scheduleCallback(
                            in: .hours(1) + .nanoseconds(Int64(delays.next())), handler: counter)
                    }
                    for callback in scheduled { callback.cancel() }
                }
                promise.succeed()
            }.get()
            run.end(operations: run.count * run.times)
        }
    }

    private static func onLoop(_ body: (any EventLoop) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        try await loop.submit {}.get()
        try await body(loop)
        try await group.shutdownGracefully()
    }
}

/// Counts on the event loop's thread, and keeps a promise when all have come.
private final class Counter: NIOScheduledCallbackHandler, @unchecked Sendable {  // used on one thread
    private var left: Int
    private let promise: EventLoopPromise<Void>

    private init(_ count: Int, _ promise: EventLoopPromise<Void>) { (left, self.promise) = (count, promise) }

    static func make(_ count: Int, on loop: any EventLoop) -> (Counter, EventLoopPromise<Void>) {
        let promise = loop.makePromise(of: Void.self)
        return (Counter(count, promise), promise)
    }

    func hit() {
        left -= 1
        if left == 0 { promise.succeed() }
    }

    func handleScheduledCallback(eventLoop: some EventLoop) { hit() }
}
