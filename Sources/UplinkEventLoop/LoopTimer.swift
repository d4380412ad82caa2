// SPDX-License-Identifier: Apache-2.0
import CLibUV
import UplinkCore

/// A one-shot timer that calls into the actor that made it. Dropping it closes it.
///
/// Its methods belong to the loop's thread.
package final class LoopTimer: Sendable {
    private let loop: EventLoop
    private let handle: TimerHandle

    /// Makes a timer that is not armed.
    ///
    /// - Parameter ended: Called if the loop ends while the timer exists; it will not fire any more.
    /// - Throws: ``EventLoopError`` when the loop has ended.
    package init<Owner: LoopActor>(
        for owner: isolated Owner, ended: @escaping @Sendable (isolated Owner) -> Void = { _ in },
        _ fired: @escaping @Sendable (isolated Owner) -> Void
    ) throws(EventLoopError) {
        loop = owner.eventLoop
        handle = try TimerHandle(on: loop.confined(), owner.entering(fired))
        handle.whenLoopEnds = owner.entering(ended)
    }

    deinit { loop.executeUnlessEnded { [handle] in handle.close() } }

    /// Arms the timer, replacing an earlier deadline; it fires once, never early and up to a millisecond late.
    package func start(after delay: Duration) { start(afterNanoseconds: delay.nanosecondsRoundedUp) }

    /// The same, with the delay in nanoseconds.
    package func start(afterNanoseconds delay: Int64) {
        let now = uv_hrtime()
        handle.start(at: now + UInt64(max(0, delay)), now: now)  // at most 292 years, which fit
    }

    /// Disarms the timer.
    package func stop() { handle.stop() }
}
