// SPDX-License-Identifier: Apache-2.0
import Glibc
import Harness
import PlainC
import UplinkEventLoop
import UplinkTesting

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

/// Without IPv6, which speaks up by itself now and then.
func withQuietNetwork(_ body: (TestNetwork) async throws -> Void) async throws {
    try await withTestNetwork(.empty) { network in
        for namespace in [network.device, network.router] {
            try namespace.set("ipv6/conf/default/disable_ipv6", to: 1)
        }
        try network.device.batch([
            "link add eth0 index 40 type veth peer name r0 index 50 netns \(network.router.name)",
            "link set eth0 up", "addr add 192.0.2.10/24 dev eth0", "route add default via 192.0.2.1",
        ])
        try network.router.ip("link set r0 up")
        try await body(network)
    }
}
