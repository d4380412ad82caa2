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
