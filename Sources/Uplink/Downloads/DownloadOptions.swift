// SPDX-License-Identifier: Apache-2.0
public import SystemPackage
public import UplinkCore
public import UplinkEventLoop
public import UplinkHTTP
public import UplinkMonitor

/// The options of a download; the defaults are careful.
public struct DownloadOptions: Sendable {
    // MARK: The file

    /// Whether the target may exist. It is then replaced in one step when the download is whole, and must be a regular
    /// file.
    public var replacesExisting = false
    /// The mode that the file gets before it gets its name, whatever the umask and the mode of a file that it replaces.
    /// Until then only its owner may read and write it, and by default (0600) that stays so.
    public var permissions: FilePermissions = .ownerReadWrite
    /// How many bytes there must be; nil for as many as the server says. Any other number is
    /// ``DownloadError/Code/sizeMismatch``, as soon as the server announces it.
    public var expectedSize: Int64?
    /// The digest to compute, and perhaps to compare; see ``DownloadChecksum``.
    public var checksum: DownloadChecksum?
    /// The most bytes to accept; more are ``DownloadError/Code/tooLarge``. One TiB by default.
    public var maximumSize: Int64 = 1 << 40
    /// Whether this download uses what an earlier one left, and keeps what it leaves itself.
    public var resumes = true
    /// Whether to accept a body that only the end of the connection ends (RFC 9112, section 6.3), so that there is no
    /// telling whether it is whole. With ``expectedSize`` or an expected digest it is always accepted, because these
    /// tell.
    public var acceptsUnframedBodies = false

    // MARK: Attempts

    /// When and how often another attempt is made.
    public var backOff = DownloadBackOff()
    /// How often the download may start over after bytes had come because the server cannot continue what it sent
    /// before; one more is ``DownloadError/Code/tooManyRestarts``.
    public var maximumRestarts = 10
    /// What an attempt does differently from the client's configuration. `retry`, `events` and `timeouts.total` have no
    /// effect: the download makes its own attempts, under its own deadline.
    public var request = HTTPRequestOptions()

    // MARK: The network

    /// What each attempt needs of the network. The download waits for it, and an attempt ends when it is lost. Nil asks
    /// no monitor, for servers that can be reached without a network, such as this host's own. A minimum stable time
    /// counts anew for each attempt.
    public var requirement: NetworkRequirement? = .internet
    /// The monitor of the network.
    public var monitor: any NetworkMonitor
    /// The clock for the deadline and the pauses; a test may use one that it moves by hand.
    public var clock: any Clock<Duration>

    /// The loop on whose blocking threads files are read and written; nil for the process's own.
    package var eventLoop: EventLoop?

    /// Creates the default options. If a monitor and a clock are given here, the process's own are not created.
    public init(
        monitor: any NetworkMonitor = LinuxNetworkMonitor.shared, clock: any Clock<Duration> = LoopClock.shared
    ) {
        (self.monitor, self.clock) = (monitor, clock)
    }
}

/// When, and how often, a download makes another attempt while the network is there.
///
/// There is no pause after a loss of the network: the next attempt starts as soon as the network is back. A pause after
/// an attempt that reached no server ends early when the path changes, though not before half of ``initialPause``, and
/// earlier failures are then forgotten. A pause after an answer is kept: another path does not change the server.
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
    /// before a server was reached; nil for as many as the deadline allows. A loss of the network is no failure.
    public var maximumFailures: Int?
    /// The same until a first byte has come, for callers that would rather know early that the server is away.
    package var maximumFirstFailures: Int?
    /// Returns a random number from 0 up to, but not including, 1, which chooses the pause.
    public var random: @Sendable () -> Double = { .random(in: 0..<1) }

    /// The default back-off.
    public init() {}
}
