// SPDX-License-Identifier: Apache-2.0
public import SystemPackage
public import UplinkCore
public import UplinkEventLoop
public import UplinkHTTP
public import UplinkMonitor

/// What a download does differently; the defaults are careful ones.
public struct DownloadOptions: Sendable {
    // MARK: The file

    /// Whether the target may exist; it is replaced in one step then, when the download is whole. It must be a regular
    /// file.
    public var replacesExisting = false
    /// What the file's mode becomes before it gets its name, whatever the umask and the mode of a file that it replaces; until
    /// then it is its owner's alone. The owner's alone (0600) where nothing is said.
    public var permissions: FilePermissions = .ownerReadWrite
    /// How many bytes there must be; nil for as many as the server says. Another number is
    /// ``DownloadError/Code/sizeMismatch``, as soon as the server tells it.
    public var expectedSize: Int64?
    /// The digest that must come out, or that is wanted; see ``DownloadChecksum``.
    public var checksum: DownloadChecksum?
    /// The most bytes to accept; more are ``DownloadError/Code/tooLarge``. One TiB.
    public var maximumSize: Int64 = 1 << 40
    /// Whether what an earlier download has left is used, and what this one leaves is kept.
    public var resumes = true
    /// Whether a body may be accepted whose only end is that of the connection (RFC 9112, section 6.3), so that nobody
    /// can tell whether it is whole. With ``expectedSize`` or an expected digest it always is, because these tell.
    public var acceptsUnframedBodies = false

    // MARK: Attempts

    /// When and how often another attempt is made.
    public var backOff = DownloadBackOff()
    /// How often the download may begin anew after bytes had come, because the server cannot go on with what it gave
    /// before; then it is ``DownloadError/Code/tooManyRestarts``.
    public var maximumRestarts = 10
    /// What an attempt does differently from the client's configuration. `retry`, `events` and `timeouts.total` have no
    /// effect: attempts, and the deadline over them, are the download's own.
    public var request = HTTPRequestOptions()

    // MARK: The network

    /// What each attempt needs of the network; it is waited for, and an attempt ends when it is lost. Nil asks no
    /// monitor, for servers that are there without a network, such as this host's own.
    public var requirement: NetworkRequirement? = .internet
    /// Who knows the network.
    public var monitor: any NetworkMonitor
    /// What the deadline and the pauses are measured on; a test's may be moved by hand.
    public var clock: any Clock<Duration>

    /// Where files are read and written, on the threads that may block; nil for the process's own loop.
    package var eventLoop: EventLoop?

    /// The default options. A monitor and a clock that are given here keep the process's own from being made.
    public init(
        monitor: any NetworkMonitor = LinuxNetworkMonitor.shared, clock: any Clock<Duration> = LoopClock.shared
    ) {
        (self.monitor, self.clock) = (monitor, clock)
    }
}

/// When, and how often, a download makes another attempt while the network is there.
///
/// A loss of the network takes no pause: the next attempt starts as soon as it is back. A pause after an attempt that
/// reached no server ends early when the path changes, though not before half of ``initialPause``, and what failed before
/// is forgotten then. A pause after an answer is kept to its end: another path makes no server well.
public struct DownloadBackOff: Sendable {
    /// The longest pause after the first failure; it doubles with each failure in a row. The pause itself is chosen by
    /// chance between its half and its whole, so that many who failed together do not come back together.
    public var initialPause = Duration.milliseconds(250)
    /// What the doubling ends at.
    public var maximumPause = Duration.seconds(30)
    /// The longest pause that a server may ask for with `Retry-After`; where it asks for more, its answer is the end. One
    /// day.
    public var maximumRetryAfter = Duration.seconds(86_400)
    /// How many attempts may fail in a row, counted anew from each new byte, and when the path has changed before a server
    /// was reached; nil for as many as the deadline allows. A loss of the network is no failure.
    public var maximumFailures: Int?
    /// The same until a first byte has come, for who would rather know at once that the server is away.
    package var maximumFirstFailures: Int?
    /// Gives a number from 0 up to 1, by which a pause is chosen.
    public var random: @Sendable () -> Double = { .random(in: 0..<1) }

    /// The default back-off.
    public init() {}
}
