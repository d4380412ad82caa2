// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

extension EventLoop {
    /// Runs `work` on libuv's thread pool, for calls that may block (files), and returns its result. The pool is in the
    /// process's network namespace, whichever one the loop is in.
    ///
    /// The task's cancellation does not end it: work that has begun is waited for. At most four run at a time
    /// (UV_THREADPOOL_SIZE).
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended, or the error of `work`.
    package func offLoop<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
        await withCheckedContinuation { continuation in
            offLoop(work) { result in
                outcome.withLock { $0 = result }
                continuation.resume()
            }
        }
        guard let result = outcome.withLock({ $0 }) else { throw EventLoopError(.ended, during: "work off the loop") }
        return try result.get()
    }

    /// Runs `work` on a thread of its own in the loop's network namespace: for calls that may take half a minute and
    /// would delay file access meanwhile.
    ///
    /// The task's cancellation does not end it.
    ///
    /// - Throws: ``EventLoopError`` when no thread can be created, or the error of `work`.
    package func besideLoop<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            execute {
                do throws(EventLoopError) {
                    try LoopThread.tryToDetach(named: "uplink-beside") {
                        continuation.resume(with: Swift.Result(catching: work))
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Like ``offLoop(_:)``, for callers that do not wait: `completion` runs on the loop's thread, exactly once.
    package func offLoop<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result,
        completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        execute {
            do {
                try WorkRequest(work, completion).submit(on: self.confined())
            } catch {
                completion(.failure(error))
            }
        }
    }
}

/// A `uv_work_t`, its memory, and both halves of the work.
private final class WorkRequest: @unchecked Sendable {  // libuv runs one half after the other
    private let memory = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
    private let work: () -> Void
    private let completion: () -> Void

    init<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result,
        _ completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        var result: Swift.Result<Result, any Error>?
        self.work = { result = .init(catching: work) }
        self.completion = { result.map(completion) }
    }

    deinit { memory.deallocate() }

    func submit(on state: LoopState) throws(EventLoopError) {
        memory.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let status = ThreadPool.unlessExiting {
            uv_queue_work(
                state.uv, memory, { WorkRequest.recover($0)?.work() },
                { request, _ in WorkRequest.recover(request)?.finish() })
        }
        guard let status, status == 0 else {
            Unmanaged.passUnretained(self).release()
            let activity = "handing work to libuv's thread pool"
            throw status.map { EventLoopError(libuv: $0, during: activity) }
                ?? EventLoopError(.ended, during: activity)
        }
    }

    private func finish() {
        completion()
        Unmanaged.passUnretained(self).release()
    }

    private static func recover(_ request: UnsafeMutablePointer<uv_work_t>?) -> WorkRequest? {
        request?.pointee.data.map { Unmanaged<WorkRequest>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// libuv's thread pool. libuv destroys it when the process exits, while the threads of loops are still running, and
/// aborts if it is used after that.
enum ThreadPool {
    private static let isOpen = Locked(true)
    /// Runs before libuv's own destructor, because handlers run in the reverse order of their registration.
    private static let closesAtExit: Void = { atexit { isOpen.withLock { $0 = false } } }()

    /// Closes the pool when the process exits. Called before there is a thread that may use it: what is registered
    /// while the process exits may come after libuv's destructor.
    static func closeAtExit() { closesAtExit }

    /// Makes libuv create the pool's threads now, from the calling thread, whose network namespace they inherit. Every
    /// signal is blocked on them, as on all loop threads.
    static func makeThreads() { _ = areMade }

    private static let areMade: Void = {
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        defer {
            loop.deallocate()
            request.deallocate()
        }
        guard loop.initializeLoop() == 0 else { return }  // they are created when they are needed
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        _ = unlessExiting { uv_queue_work(loop, request, { _ in }, { _, _ in }) }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        // All threads may be busy and waiting for the caller: a request that has not begun is taken back.
        request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { _ = uv_cancel($0) }
        uv_run(loop, UV_RUN_DEFAULT)
        uv_loop_close(loop)
    }()

    /// Runs `body`, unless the process is exiting.
    static func unlessExiting<Result>(_ body: () -> Result) -> Result? {
        closesAtExit
        return isOpen.withLock { $0 ? body() : nil }
    }
}
