// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// An actor on a loop with timers that record, in order, what fired.
actor TimerOwner: LoopActor {
    nonisolated let eventLoop: EventLoop
    private var timers: LoopTimers?
    private(set) var fired: [Int] = []
    private(set) var earliness: [Duration] = []
    private(set) var ends = 0
    private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(on loop: EventLoop) { eventLoop = loop }

    /// Runs `body` on the loop with the timers, which are made the first time.
    func with<Result: Sendable>(
        _ body: @Sendable (isolated TimerOwner, LoopTimers) throws -> Result
    ) throws -> Result {
        let timers = try timers ?? LoopTimers(on: eventLoop) { self.ends += 1 }
        self.timers = timers
        return try body(self, timers)
    }

    var count: Int { timers?.count ?? 0 }

    func drop() { timers = nil }

    /// Arms a timer that records this number and how early it fired.
    @discardableResult
    func arm(_ number: Int, after delay: Duration) throws -> LoopTimers.ID {
        try with { owner, timers in
            let due = ContinuousClock.now + delay
            return try timers.arm(after: delay) { _ in
                owner.earliness.append(due - .now)
                owner.record(number)
            }
        }
    }

    /// Arms a timer that arms itself anew whenever it fires.
    func armForever() throws {
        try with { owner, timers in
            _ = try timers.arm(after: .zero) { _ in
                do { try owner.armForever() } catch { owner.record(-1) }
            }
        }
    }

    func cancel(_ id: LoopTimers.ID) throws -> Bool { try with { $1.cancel(id) } }

    func record(_ number: Int) {
        fired.append(number)
        guard let (count, continuation) = waiter, fired.count >= count else { return }
        waiter = nil
        continuation.resume()
    }

    /// What has fired, as soon as it is so many.
    func next(_ count: Int) async -> [Int] {
        if fired.count < count { await withCheckedContinuation { waiter = (count, $0) } }
        return fired
    }
}
