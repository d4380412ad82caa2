// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

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
        let status = SignalMask.withAllBlocked {
            unlessExiting { uv_queue_work(loop, request, { _ in }, { _, _ in }) }
        }
        if status == 0 {
            // All threads may be busy and waiting for the caller: a request that has not begun is taken back.
            request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { _ = uv_cancel($0) }
            uv_run(loop, UV_RUN_DEFAULT)
        }
        uv_loop_close(loop)
    }()

    /// Runs `body`, unless the process is exiting.
    static func unlessExiting<Result>(_ body: () -> Result) -> Result? {
        closesAtExit
        return isOpen.withLock { $0 ? body() : nil }
    }
}
