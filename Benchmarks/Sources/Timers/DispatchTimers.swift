// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Harness

/// The work with a Dispatch timer source for each timer, on one serial queue.
enum DispatchTimers {
    static func pending(_ run: Run) async {
        let queue = DispatchQueue(label: "timers")
        run.begin()
        let owner = Owner(queue)
        await withCheckedContinuation { done in
            queue.async { owner.pending(run.count) { done.resume() } }
        }
        run.end()
    }

    static func cancelled(_ run: Run) async {
        let queue = DispatchQueue(label: "timers")
        run.begin()
        let owner = Owner(queue)
        await withCheckedContinuation { done in
            queue.async {
                for _ in 0..<run.times { owner.armAndCancel(run.count) }
                queue.async { done.resume() }  // the sources' own ends stand before it in the queue
            }
        }
        run.end(operations: run.count * run.times)
    }
}

private final class Owner: @unchecked Sendable {  // used on its queue
    private let queue: DispatchQueue
    private var sources: [any DispatchSourceTimer] = []
    private var left = 0

    init(_ queue: DispatchQueue) { self.queue = queue }

    func pending(_ count: Int, _ allFired: @escaping @Sendable () -> Void) {
        var delays = Delays()
        left = count
        sources = (0..<count).map { _ in
            source(delays.next()) { [unowned self] in
                left -= 1
                if left == 0 { allFired() }
            }
        }
    }

    func armAndCancel(_ count: Int) {
        var delays = Delays()
        sources = (0..<count).map { _ in source(3600_000_000_000 + delays.next()) {} }
        for source in sources { source.cancel() }
        sources = []
    }

    private func source(_ delay: Int, _ fired: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: fired)
        source.schedule(deadline: .now() + .nanoseconds(delay), leeway: .nanoseconds(0))
        source.resume()
        return source
    }
}
