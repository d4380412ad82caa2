// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc

/// A timer that never expires, but becomes readable when the wall clock is set or the system wakes from sleep
/// (`timerfd_create(2)`, `TFD_TIMER_CANCEL_ON_SET`; since Linux 5.15 for every wake-up). It causes no other wake-ups.
final class ClockStepTimer {
    /// In the year 2096, which the kernel accepts on any machine. A timer that expires reports no step.
    private static let never = 4_000_000_000

    let descriptor: CInt

    /// Arms the timer. Nil if the system has none to give, which a monitor can do without.
    init?() {
        descriptor = timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        var time = itimerspec()
        time.it_value.tv_sec = Self.never
        let flags = CInt(TFD_TIMER_ABSTIME) | CInt(TFD_TIMER_CANCEL_ON_SET)
        guard timerfd_settime(descriptor, flags, &time, nil) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Whether the clock was stepped since the last call. The timer stays armed.
    func wasStepped() -> Bool {
        var expirations: UInt64 = 0
        return read(descriptor, &expirations, MemoryLayout<UInt64>.size) < 0 && errno == ECANCELED
    }
}

extension ClockReading {
    /// The current reading of the clocks.
    static var now: Self {
        let before = time(of: CLOCK_MONOTONIC)
        let boottime = time(of: CLOCK_BOOTTIME)
        return Self(boottime: boottime, monotonic: before...max(before, time(of: CLOCK_MONOTONIC)))
    }

    private static func time(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
