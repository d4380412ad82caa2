// SPDX-License-Identifier: Apache-2.0

/// Decides when to evaluate the path again because one of its routes expires, which the kernel reports up to half a
/// minute late.
struct RouteExpiry {
    typealias Instant = SuspendingClock.Instant

    /// Longer than the kernel's rounding of lifetimes. In the last hundredth of a second of its life a route says that
    /// it has no lifetime, like a route that never expires.
    private static let tick = Duration.milliseconds(20)

    private var due: Instant?

    /// Processes the shortest time to expiry of the routes that were asked about, and returns how long to wait before
    /// the next evaluation.
    mutating func asked(timeToExpiry: Duration?, at now: Instant) -> Duration? {
        let next = timeToExpiry.map { now + $0 + Self.tick }
        if let instant = due, instant > now, instant <= now + Self.tick + Self.tick {
            due = min(instant, next ?? instant)  // that route is in its last moment, and says nothing
        } else {
            due = next
        }
        return due.map { now.duration(to: $0) }
    }
}
