// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// An executor on which nothing runs before the dice have chosen it: tasks that prefer it run one at a time, on the
/// thread that says so, in an order that comes again with the seed.
final class SeededExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])

    var isIdle: Bool { jobs.withLock { $0.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs one of the jobs that wait, up to its next suspension.
    func runOne(_ dice: Dice) {
        let count = jobs.withLock { $0.count }
        guard count > 0 else { return }
        let index = dice.roll(count)
        let job = jobs.withLock { $0.remove(at: index) }
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
