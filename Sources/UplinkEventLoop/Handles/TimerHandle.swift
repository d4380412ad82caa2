// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// A `uv_timer_t` that fires once.
final class TimerHandle: HandleBox<uv_timer_t>, @unchecked Sendable {  // as its superclass
    private let fired: () -> Void

    init(on state: LoopState, _ fired: @escaping () -> Void) throws(EventLoopError) {
        self.fired = fired
        super.init()
        try open(on: state, during: "making a timer") { uv_timer_init($0, memory) }
    }

    /// Arms the timer for a time of `uv_hrtime`, in nanoseconds; never fires before it. Replaces an earlier deadline.
    func start(at deadline: UInt64) {
        guard isOpen else { return }
        let loop = memory.pointee.loop
        uv_update_time(loop)
        let (due, now) = ((deadline.addingReportingOverflow(999_999).partialValue) / 1_000_000, uv_now(loop))
        let isDue = deadline <= uv_hrtime()  // then not even the rest of this millisecond is waited for
        uv_timer_start(memory, { recover(TimerHandle.self, $0)?.fired() }, isDue || due <= now ? 0 : due - now, 0)
    }

    func stop() { if isOpen { uv_timer_stop(memory) } }
}
