// SPDX-License-Identifier: Apache-2.0

/// The side of a loop that actors live on: a separate object, so that their jobs can be told apart from those of tasks
/// that prefer the loop.
///
/// A job runs under exactly the executors that its task asks for; otherwise the runtime would treat every call from one
/// actor on the loop to another as a change of executors, and enqueue it. (The side that tasks prefer must be the loop
/// object itself: the runtime retains the one and releases the other.)
final class LoopIsolation: SerialExecutor, @unchecked Sendable {  // `loop` is set once, by the loop's initialiser
    unowned var loop: EventLoop?

    func enqueue(_ job: consuming ExecutorJob) { loop?.submit(.job(UnownedJob(job))) }

    func isIsolatingCurrentContext() -> Bool? { loop?.isCurrent }

    func checkIsolated() { loop?.checkIsolated() }
}
