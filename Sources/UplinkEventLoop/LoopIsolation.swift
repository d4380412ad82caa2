// SPDX-License-Identifier: Apache-2.0

/// The side of a loop that actors live on: an object of its own, so that their jobs are told from those of tasks that
/// prefer the loop.
///
/// A job runs under the executors that its task asks for and no others; else the runtime would take every call from one
/// actor on the loop to another for a change of executors, and enqueue it. (The side that tasks prefer cannot be another
/// object than the loop: the runtime retains the one, and releases the other.)
final class LoopIsolation: SerialExecutor, @unchecked Sendable {  // `loop` is set once, by the loop's initialiser
    unowned var loop: EventLoop?

    func enqueue(_ job: consuming ExecutorJob) { loop?.submit(.job(UnownedJob(job))) }

    func isIsolatingCurrentContext() -> Bool? { loop?.isCurrent }

    func checkIsolated() { loop?.checkIsolated() }
}
