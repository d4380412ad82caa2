// SPDX-License-Identifier: Apache-2.0

/// A clock whose sleep fails at once, as a loop's clock does when the loop has ended.
package struct BrokenClock: Clock {
    package struct Broken: Error {}
    package typealias Instant = SuspendingClock.Instant

    package init() {}

    package var now: Instant { SuspendingClock.now }
    package var minimumResolution: Duration { .nanoseconds(1) }
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw Broken() }
}
