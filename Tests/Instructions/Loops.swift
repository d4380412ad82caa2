// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// What stands on the loop itself.
enum Loops {
    /// Calls of an actor on the loop, by a task that prefers the loop.
    static func hops(_ count: Int) async throws {
        try await withEventLoop { loop in
            let owner = Owner(on: loop)
            await withTaskExecutorPreference(loop) {
                for _ in 0..<count { await owner.hit() }
            }
            try check(await owner.hits == count)
        }
    }

    /// Timers that are armed and fire, a thousand at a time, which are all due by the time that the loop looks.
    static func timers(_ count: Int) async throws {
        try await withEventLoop { loop in
            let owner = Owner(on: loop)
            for _ in 0..<count / 1000 { try await owner.fire(1000) }
            try check(await owner.hits == count / 1000 * 1000)
        }
    }

    /// Timers that are armed and cancelled, a thousand at a time.
    static func cancelledTimers(_ count: Int) async throws {
        try await withEventLoop { loop in
            let owner = Owner(on: loop)
            for _ in 0..<count / 1000 { try await owner.armAndCancel(1000) }
            try check(await owner.hits == 0)
        }
    }
}

private actor Owner {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var timers: LoopTimers?
    private(set) var hits = 0
    private var left = 0
    private var allFired: CheckedContinuation<Void, Never>?

    init(on loop: EventLoop) { self.loop = loop }

    func hit() { hits += 1 }

    func fire(_ count: Int) async throws {
        let timers = try open()
        left = count
        for _ in 0..<count { _ = try timers.arm(after: .nanoseconds(1)) { _ in self.fired() } }
        await withCheckedContinuation { allFired = $0 }
    }

    private func fired() {
        hits += 1
        left -= 1
        if left == 0 { allFired?.resume() }
    }

    func armAndCancel(_ count: Int) throws {
        let timers = try open()
        let ids = try (0..<count).map { number in
            try timers.arm(after: .seconds(3600 + number * 7919 % 1000)) { _ in self.hit() }
        }
        for id in ids { try check(timers.cancel(id)) }
        try check(timers.count == 0)
    }

    private func open() throws -> LoopTimers {
        let timers = try timers ?? LoopTimers(on: loop)
        self.timers = timers
        return timers
    }
}
