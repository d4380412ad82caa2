// SPDX-License-Identifier: Apache-2.0
import Harness
import UplinkEventLoop

/// The work with ``LoopTimers``.
enum UplinkTimers {
    static func pending(_ run: Run) async throws {
        try await withEventLoop { loop in
            let owner = Owner(on: loop)
            try await owner.open()
            run.begin()
            try await owner.pending(run.count)
            run.end()
        }
    }

    static func cancelled(_ run: Run) async throws {
        try await withEventLoop { loop in
            let owner = Owner(on: loop)
            try await owner.open()
            run.begin()
            let isRight = try await owner.cancelled(run.count, times: run.times)
            run.end(operations: run.count * run.times)
            try run.check(isRight)
        }
    }
}

private actor Owner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var timers: LoopTimers?
    private var left = 0
    private var allFired: CheckedContinuation<Void, Never>?

    init(on loop: EventLoop) { self.loop = loop }

    func open() throws { timers = try LoopTimers(on: loop) }

    func pending(_ count: Int) async throws {
        guard let timers else { throw WrongResult() }
        var delays = Delays()
        left = count
        for _ in 0..<count { _ = try timers.arm(after: .nanoseconds(delays.next())) { _ in self.fired() } }
        await withCheckedContinuation { allFired = $0 }
    }

    private func fired() {
        left -= 1
        if left == 0 { allFired?.resume() }
    }

    func cancelled(_ count: Int, times: Int) throws -> Bool {
        guard let timers else { throw WrongResult() }
        var ids: [LoopTimers.ID] = []
        ids.reserveCapacity(count)
        for _ in 0..<times {
            var delays = Delays()
            for _ in 0..<count {
                ids.append(
                    try timers.arm(after: .seconds(3600) + .nanoseconds(delays.next())) { _ in self.fired() })
            }
            for id in ids where !timers.cancel(id) { return false }
            ids.removeAll(keepingCapacity: true)
        }
        return timers.count == 0
    }
}
