// SPDX-License-Identifier: Apache-2.0
import CLibUV
import UplinkCore

/// The sleepers of a ``LoopClock``: a table under a lock, and the one timer that serves it.
final class LoopSleepers: Sendable {
    private static let batchSize = 256

    private let loop: EventLoop
    private let table = Locked(SleeperTable())
    private let timer: Locked<TimerHandle?> = Locked(nil)

    init(loop: EventLoop) { self.loop = loop }

    deinit {
        loop.executeUnlessEnded { [timer] in timer.withLock { $0 }?.close() }
    }

    func sleep(until deadline: Int64) async throws {
        let sleeper = table.withLock { $0.reserve() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform(table.withLock { $0.sleep(sleeper, until: deadline, continuation) })
            }
        } onCancel: {
            perform(table.withLock { $0.cancel(sleeper) })
        }
    }

    private func perform(_ action: SleeperTable.Action) {
        switch action {
        case .none: break
        case .arm: loop.execute { self.arm() }
        case .cancel(let continuation): continuation.resume(throwing: CancellationError())
        }
    }

    /// Sets the timer to the earliest deadline. Called on the loop's thread.
    private func arm() {
        do throws(EventLoopError) {
            let state = try loop.confined()
            let timer = try timer.withLock { timer throws(EventLoopError) in
                if let timer { return timer }
                let new = try TimerHandle(on: state) { [weak self] in self?.fired() }
                new.whenLoopEnds = { [weak self] in self?.loopEnded() }
                timer = new
                return new
            }
            if let deadline = table.withLock({ $0.alarmToSet() }) {
                timer.start(at: UInt64(deadline))
            } else {
                timer.stop()
            }
        } catch {
            wakeAll(throwing: error)
        }
    }

    private func loopEnded() { wakeAll(throwing: EventLoopError(.ended, during: "sleeping on a loop's clock")) }

    private func wakeAll(throwing error: EventLoopError) { wake(at: .max) { $0.resume(throwing: error) } }

    private func fired() {
        wake(at: Int64(clamping: uv_hrtime())) { $0.resume() }
        arm()
    }

    /// Resumes sleepers that are due, in batches, so that a large number of them neither holds the lock for long nor
    /// needs much memory.
    private func wake(at now: Int64, _ resume: (SleeperTable.Continuation) -> Void) {
        var batch: [SleeperTable.Continuation] = []
        batch.reserveCapacity(Self.batchSize)
        var hasMore = true
        while hasMore {
            hasMore = table.withLock { $0.wake(at: now, into: &batch, upTo: Self.batchSize) }
            for continuation in batch { resume(continuation) }
            batch.removeAll(keepingCapacity: true)
        }
    }
}
