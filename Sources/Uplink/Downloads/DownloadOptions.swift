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
    /// How often the download may start over, after bytes have come or been announced, because the server cannot
    /// continue what it sent before; one more is ``DownloadError/Code/tooManyRestarts``.
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
