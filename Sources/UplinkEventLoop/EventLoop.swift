// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

/// One thread that runs one libuv loop, as an executor for actors and tasks.
///
/// Actors that name the loop as their `unownedExecutor` live on its thread, so that the compiler proves what libuv and
/// libcurl ask for: one thread for all calls. A task that prefers the loop (`withTaskExecutorPreference(loop)`) reaches
/// those actors without a change of threads.
///
/// Use ``shared``, or ``withEventLoop(networkNamespace:_:)`` for a loop of one's own that is gone when the scope ends.
/// Nothing that runs on a loop may block. All signals are blocked on its thread.
public final class EventLoop: Sendable {
    /// The process's loop. It starts with the first use and is never ended.
    ///
    /// If it cannot be started, because the process has used up its descriptors at that moment, whatever needs it throws
    /// that ``EventLoopError`` from then on; tasks that prefer it run all the same.
    public static let shared: EventLoop = {
        do throws(EventLoopError) {
            return try EventLoop(networkNamespace: LoopThread.wayToProcessNamespace)
        } catch {
            return EventLoop(failedBy: error)
        }
    }()

    let inbox: Inbox
    let thread: LoopThread
    /// As in ``LoopThread``, whose has to be looked up each time.
    private let key = LoopThread.key
    /// Why the loop never started.
    private let failure: EventLoopError?
    /// The side of the loop that actors live on.
    let isolation = LoopIsolation()

    /// Starts a loop; it runs until ``end()``.
    ///
    /// - Parameter networkNamespace: The name of a network namespace as `ip netns` keeps it, or the path of one. The
    ///   thread enters it before anything opens, so that sockets made on this loop belong there. Needs CAP_SYS_ADMIN.
    ///   Nil for the calling thread's.
    /// - Throws: ``EventLoopError`` when the thread, the loop or the namespace cannot be had.
    package init(networkNamespace: String? = nil) throws(EventLoopError) {
        inbox = try Inbox()
        thread = LoopThread()
        failure = nil
        isolation.loop = self
        try thread.start(for: self, networkNamespace: networkNamespace)
    }

    /// A loop that could not be started.
    init(failedBy error: EventLoopError) {
        inbox = Inbox(closed: ())
        thread = LoopThread()
        failure = error
        isolation.loop = self
    }

    /// Ends the loop: what was enqueued runs, every handle is closed, the thread is joined.
    ///
    /// Jobs that arrive later still run, one at a time, on a thread made for them, so that no task is lost; timers,
    /// watchers and clocks of an ended loop throw ``EventLoopError``. Must not be called on the loop's own thread.
    package func end() {
        precondition(!isCurrent, "an event loop cannot wait for its own end")
        inbox.close()
        thread.join()
    }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool { pthread_getspecific(key) == Unmanaged.passUnretained(self).toOpaque() }

    /// Runs `work` on the loop's thread, after what was enqueued before it. From any thread.
    package func execute(_ work: @escaping @Sendable () -> Void) { submit(.work(work)) }

    /// Runs `work` on the loop's thread, unless the loop has ended: for the closing of what an ended loop has closed. The
    /// closure is released then where this was called.
    package func executeUnlessEnded(_ work: @escaping @Sendable () -> Void) { inbox.addUnlessClosed(.work(work)) }

    func submit(_ entry: Inbox.Entry) {
        if inbox.add(entry, isOnLoop: isCurrent) == .needsAfterlife { LoopThread.runAfterlife(of: self) }
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
    /// Takes a job of a task that prefers the loop; the concurrency runtime calls this, from any thread.
    public func enqueue(_ job: consuming ExecutorJob) { submit(.preferringJob(UnownedJob(job))) }

    /// The loop as what an actor names as its `unownedExecutor`.
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
            // On no actor: else the runtime takes every return into code that belongs to none for a change of executors,
            // and enqueues it.
            job.runSynchronously(on: asUnownedTaskExecutor())
        case .work(let work): work()
        }
    }
}

/// Runs `body` with an event loop of its own, which has ended when this returns.
///
/// - Parameters:
///   - networkNamespace: The namespace that the loop's thread enters first; nil for the process's. Threads that Swift's
///     runtime makes meanwhile may begin there too: see `docs/known-issues.md`.
///   - body: Uses the loop, which must not be kept beyond it.
/// - Throws: ``EventLoopError`` when no loop can be had, or what `body` throws.
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
