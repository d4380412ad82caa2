// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

/// One thread that runs one libuv loop, as an executor for actors and tasks.
///
/// Actors that name the loop as their `unownedExecutor` live on its thread, so the compiler proves what libuv and
/// libcurl require: that all calls come from one thread. A task that prefers the loop
/// (`withTaskExecutorPreference(loop)`) reaches those actors without a change of threads.
///
/// Use ``shared``, or ``withEventLoop(networkNamespace:_:)`` for a separate loop that is gone when the scope ends.
/// Nothing that runs on a loop may block. All signals are blocked on its thread.
public final class EventLoop: Sendable {
    /// The process's shared loop. It starts on first use and never ends.
    ///
    /// If it cannot be started, because the process has run out of descriptors at that moment, everything that needs it
    /// throws that ``EventLoopError`` from then on; tasks that prefer it still run.
    public static let shared: EventLoop = {
        do throws(EventLoopError) {
            return try EventLoop(networkNamespace: LoopThread.wayToProcessNamespace)
        } catch {
            return EventLoop(failedBy: error)
        }
    }()

    let inbox: Inbox
    let thread: LoopThread
    /// A copy of the key in ``LoopThread``, which would have to be looked up each time.
    private let key: pthread_key_t?
    /// The reason why the loop never started.
    private let failure: EventLoopError?
    /// The side of the loop that actors live on.
    let isolation = LoopIsolation()

    /// Starts a loop; it runs until ``end()``.
    ///
    /// - Parameter networkNamespace: The name of a network namespace as `ip netns` keeps it, or the path of one. The
    ///   thread enters it before anything is opened, so that sockets made on this loop belong to it. Needs
    ///   CAP_SYS_ADMIN. Nil for the calling thread's namespace.
    /// - Throws: ``EventLoopError`` when the thread or the loop cannot be made, or the namespace cannot be entered.
    package init(networkNamespace: String? = nil) throws(EventLoopError) {
        try DescriptorRoom.check()
        key = LoopThread.key
        guard key != nil else { throw EventLoopError(.system, during: "making a thread-specific key", errno: EAGAIN) }
        inbox = try Inbox()
        thread = LoopThread()
        failure = nil
        isolation.loop = self
        try thread.start(for: self, networkNamespace: networkNamespace)
    }

    /// Makes a loop that could not be started.
    init(failedBy error: EventLoopError) {
        key = LoopThread.key
        inbox = Inbox(closed: ())
        thread = LoopThread()
        failure = error
        isolation.loop = self
    }

    /// Ends the loop: everything enqueued runs, every handle is closed, and the thread is joined.
    ///
    /// Jobs that arrive later still run, one at a time, on a thread made for them, so that no task is lost; timers,
    /// watchers and clocks of an ended loop throw ``EventLoopError``. Must not be called on the loop's own thread.
    package func end() {
        precondition(!isCurrent, "an event loop cannot wait for its own end")
        inbox.close()
        thread.join()
    }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool {
        guard let key else { return false }
        return pthread_getspecific(key) == Unmanaged.passUnretained(self).toOpaque()
    }

    /// Runs `work` on the loop's thread, after everything enqueued before it. May be called from any thread.
    package func execute(_ work: @escaping @Sendable () -> Void) { submit(.work(work)) }

    /// Runs `work` on the loop's thread, unless the loop has ended: for closing what an ended loop has closed already.
    /// In that case the closure is released by the caller's thread.
    package func executeUnlessEnded(_ work: @escaping @Sendable () -> Void) { inbox.addUnlessClosed(.work(work)) }

    func submit(_ entry: Inbox.Entry) {
        if inbox.add(entry, isOnLoop: isCurrent) == .needsLateThread { LoopThread.runLateEntries(of: self) }
    }

    /// The loop's handles, for callers on its thread.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    func confined() throws(EventLoopError) -> LoopState {
        precondition(isCurrent, "this belongs to the event loop's own thread")
        guard let state = thread.state, !state.isClosing else {
            throw failure ?? EventLoopError(.ended, during: "using an event loop")
        }
        return state
    }
}

extension EventLoop: SerialExecutor, TaskExecutor {
    /// Enqueues a job of a task that prefers the loop; called by the concurrency runtime, from any thread.
    public func enqueue(_ job: consuming ExecutorJob) { submit(.preferringJob(UnownedJob(job))) }

    /// Returns the loop in the form that an actor returns as its `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: isolation) }

    /// Whether the caller runs on this loop's thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Stops the program unless the caller runs on this loop's thread; for `assumeIsolated`.
    public func checkIsolated() {
        precondition(isCurrent, "expected to run on the event loop's thread")
    }

    func run(_ entry: Inbox.Entry) {
        switch entry {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .preferringJob(let job):
            // On no actor: otherwise the runtime treats every return into code that belongs to no actor as a change of
            // executors, and enqueues it.
            job.runSynchronously(on: asUnownedTaskExecutor())
        case .work(let work): work()
        }
    }
}

/// Runs `body` with an event loop of its own, which has ended when this returns.
///
/// - Parameters:
///   - networkNamespace: The namespace that the loop's thread enters first; nil for the process's. Threads that Swift's
///     runtime creates meanwhile may start in it, too: see `docs/known-issues.md`.
///   - body: Uses the loop, which must not be kept beyond it.
/// - Throws: ``EventLoopError`` when no loop can be made, or the error of `body`.
public nonisolated(nonsending) func withEventLoop<Result>(
    networkNamespace: String? = nil, _ body: nonisolated(nonsending) (EventLoop) async throws -> Result
) async throws -> Result {
    let loop = try EventLoop(networkNamespace: networkNamespace ?? LoopThread.wayToProcessNamespace)
    do {
        let result = try await body(loop)
        await loop.endAndWait()
        return result
    } catch {
        await loop.endAndWait()
        throw error
    }
}

extension EventLoop {
    /// Ends the loop and waits for it without holding up a thread of the pool.
    package func endAndWait() async {
        await withCheckedContinuation { continuation in
            LoopThread.detach(named: "uplink-end") {
                self.end()
                continuation.resume()
            }
        }
    }
}
