// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// An executor that runs jobs in the order in which they came, when the test says so.
final class JobQueue: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let running = Locked(false)

    /// How many jobs wait.
    var count: Int { jobs.withLock { $0.count } }

    /// Whether a job runs at this moment.
    var isRunning: Bool { running.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func run() { while runOne() {} }

    /// Runs the first job; false when there is none.
    @discardableResult
    func runOne() -> Bool {
        guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        running.withLock { $0 = true }
        defer { running.withLock { $0 = false } }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }
}
