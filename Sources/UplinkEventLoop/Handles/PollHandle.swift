// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// A `uv_poll_t` on a descriptor owned by somebody else.
final class PollHandle: HandleBox<uv_poll_t>, @unchecked Sendable {  // as its superclass
    private let descriptor: CInt
    private let ready: (CInt, Readiness) -> Void

    init(on state: LoopState, descriptor: CInt, _ ready: @escaping (CInt, Readiness) -> Void) throws(EventLoopError) {
        (self.descriptor, self.ready) = (descriptor, ready)
        super.init()
        try open(on: state, during: "watching descriptor \(descriptor)") { uv_poll_init($0, memory, descriptor) }
    }

    /// Watches for `interest` only, replacing what was watched before. Registers again even if nothing changed, because
    /// the descriptor's number may have been reused for another socket.
    func start(_ interest: Readiness) {
        guard isOpen else { return }
        let events = CInt(bitPattern: interest.rawValue & Readiness.both.rawValue)
        uv_poll_start(memory, events) { recover(PollHandle.self, $0)?.polled(status: $1, events: $2) }
    }

    func stop() { if isOpen { uv_poll_stop(memory) } }

    /// When the loop last took events from the kernel, or began a turn: nanoseconds of `CLOCK_MONOTONIC`, rounded down
    /// to milliseconds.
    var loopTime: Int64 { Int64(uv_now(memory.pointee.loop)) * 1_000_000 }

    /// libuv reports POLLERR as a failed status, and has then stopped the watcher.
    private func polled(status: CInt, events: CInt) {
        ready(descriptor, status < 0 ? .error : Readiness(rawValue: UInt32(bitPattern: events)))
    }
}
