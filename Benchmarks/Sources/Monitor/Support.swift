// SPDX-License-Identifier: Apache-2.0
import Glibc
import Harness
import PlainC
import UplinkEventLoop

/// Tells the loop's thread.
actor OnLoop {
    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    var thread: CInt { plain_thread() }
}

/// What a thread had used at a moment.
struct Used {
    private let thread: CInt
    let wakeups: Int
    private let nanoseconds: Int

    init(_ thread: CInt) {
        self.thread = thread
        wakeups = plain_wakeups(thread)
        nanoseconds = plain_thread_nanoseconds(thread)
    }

    /// Notes what came on top of it while so many events were written.
    func note(_ run: Run, _ events: Int, _ seconds: Double) {
        run.note("events-per-second", Double(events) / seconds)
        run.note("wake-ups", Double(plain_wakeups(thread) - wakeups))
        run.note("CPU-of-the-reader", Double(plain_thread_nanoseconds(thread) - nanoseconds) / 1e9)
    }
}
