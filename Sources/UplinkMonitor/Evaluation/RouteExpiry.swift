// SPDX-License-Identifier: Apache-2.0

/// When the path is to be asked for again because a route of it expires, which the kernel tells up to half a minute late.
struct RouteExpiry {
    typealias Instant = SuspendingClock.Instant

    /// Longer than what the kernel rounds a lifetime to. In its last hundredth of a second a route says that it has none,
    /// as one without an end does.
    private static let tick = Duration.milliseconds(20)

    private var due: Instant?

    /// Takes what the kernel says of the path's routes, and returns how long to wait before it is asked again.
    mutating func asked(timeToExpiry: Duration?, at now: Instant) -> Duration? {
        if let timeToExpiry {
            due = now + timeToExpiry + Self.tick
        } else if let instant = due, instant <= now || instant > now + Self.tick + Self.tick {
            due = nil  // over, or prolonged without an end
        }
        return due.map { now.duration(to: $0) }
    }
}
