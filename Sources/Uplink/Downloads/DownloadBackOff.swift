// SPDX-License-Identifier: Apache-2.0

/// When, and how often, a download makes another attempt while the network is there.
///
/// After a loss of the network there is no pause: the next attempt starts as soon as the network is back. Further
/// losses without a byte in between are followed by pauses as failures are. A pause after an attempt that reached no
/// server ends early when the path changes, though not before half of ``initialPause``, and earlier failures are then
/// forgotten. A pause after an answer is kept: another path does not change the server.
public struct DownloadBackOff: Sendable {
    /// The longest pause after the first failure, doubled with each further failure in a row. The actual pause is
    /// random, between half of it and all of it, so that many that failed together do not come back together.
    public var initialPause = Duration.milliseconds(250)
    /// The limit of the doubling.
    public var maximumPause = Duration.seconds(30)
    /// The longest pause that a server may ask for with `Retry-After`; if it asks for more, its answer ends the
    /// download. One day by default.
    public var maximumRetryAfter = Duration.seconds(86_400)
    /// How many attempts may fail in a row, counted from zero again after each new byte, and after the path has changed
    /// before a server was reached; nil for as many as the deadline allows. A loss of the network is no failure,
    /// and neither is a whole file from elsewhere in place of the rest, which is believed when it comes again and again.
    public var maximumFailures: Int?
    /// The same until a first byte has come, for callers that would rather know early that the server is away.
    package var maximumFirstFailures: Int?
    /// Returns a random number from 0 up to, but not including, 1, which chooses the pause.
    public var random: @Sendable () -> Double = { .random(in: 0..<1) }

    /// The default back-off.
    public init() {}
}
