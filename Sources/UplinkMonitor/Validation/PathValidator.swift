// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// How a monitor checks whether the internet answers: with which probe, and when. Opt-in, because it sends packets.
///
/// Each family that has a route is probed immediately when its interface, gateway or source address changes and after a
/// sleep of the system, but because of that no more than once a second; then 1, 2, 4, … seconds after every failed
/// probe, until one succeeds. The result appears in `FamilyPath.validation`. It never decides whether a path is
/// satisfied.
public struct PathValidator: Sendable {
    /// The probe to run.
    public let probe: ValidationProbe
    /// How long one probe may take; after that it has failed.
    public let timeout: Duration
    /// The pause after the first failed probe; it doubles from there.
    public let firstPause: Duration
    /// The longest pause between probes while they fail.
    public let longestPause: Duration
    /// How often a validated route is probed again; nil for never, until something changes.
    public let interval: Duration?

    /// Describes when to probe. Times out of range are clamped.
    ///
    /// - Parameters:
    ///   - probe: The probe to run.
    ///   - timeout: How long one probe may take; 0.1 seconds to an hour.
    ///   - firstPause: The pause after the first failure; 0.1 seconds to an hour.
    ///   - longestPause: The longest pause between failing probes; not less than `firstPause`.
    ///   - interval: How often a validated route is probed again, at most once a second; nil for never.
    public init(
        _ probe: ValidationProbe, timeout: Duration = .seconds(10), firstPause: Duration = .seconds(1),
        longestPause: Duration = .seconds(300), interval: Duration? = nil
    ) {
        let range = Duration.milliseconds(100)...Duration.seconds(3600)
        self.probe = probe
        self.timeout = range.clamp(timeout)
        self.firstPause = range.clamp(firstPause)
        self.longestPause = max(range.clamp(longestPause), range.clamp(firstPause))
        self.interval = interval.map { max($0.clamped, .seconds(1)) }
    }
}

extension ClosedRange<Duration> {
    fileprivate func clamp(_ value: Duration) -> Duration { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
