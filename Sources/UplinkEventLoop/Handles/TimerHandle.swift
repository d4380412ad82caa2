// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// A `uv_timer_t` that fires once.
final class TimerHandle: HandleBox<uv_timer_t>, @unchecked Sendable {  // as its superclass
    private let fired: () -> Void
    private var isFiring = false

    init(on state: LoopState, _ fired: @escaping () -> Void) throws(EventLoopError) {
        self.fired = fired
        super.init()
        try open(on: state, during: "making a timer") { uv_timer_init($0, memory) }
    }

    /// Arms the timer for a time in nanoseconds of `uv_hrtime`; it never fires before it. Replaces an earlier deadline.
    ///
    /// - Parameter moment: The current time on the same clock.
    func start(at deadline: UInt64, now moment: UInt64 = uv_hrtime()) {
        guard isOpen else { return }
        let loop = memory.pointee.loop
        uv_update_time(loop)
        let (due, now) = ((deadline.addingReportingOverflow(999_999).partialValue) / 1_000_000, uv_now(loop))
        let isDue = deadline <= moment  // then not even the rest of this millisecond is waited for
        // If a timer's own callback sets it to zero, libuv 1.44 calls it over and over and does nothing else.
        let least: UInt64 = isFiring ? 1 : 0
        uv_timer_start(
            memory, { recover(TimerHandle.self, $0)?.fire() }, isDue || due <= now ? least : max(least, due - now), 0)
    }

    private func fire() {
        isFiring = true
        fired()
        isFiring = false
    }

    func stop() { if isOpen { uv_timer_stop(memory) } }
}
