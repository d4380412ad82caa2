// SPDX-License-Identifier: Apache-2.0

/// The state of a download at one moment.
public struct DownloadProgress: Sendable, Hashable {
    /// What a download is doing.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// It opens its files, and reads what an earlier download left.
        case preparing
        /// The network is away, or is not what the download needs; an attempt starts as soon as it is.
        case waitingForNetwork
        /// It asks the server for the whole file.
        case connecting
        /// It asks the server for what is missing.
        case resuming
        /// Bytes arrive.
        case receiving
        /// An attempt failed; the next one comes after a pause, and in a batch also not before there is a place for it.
        case pausing
        /// All bytes are there; they are checked and flushed to the disk.
        case verifying
        /// The file has its name.
        case finished
        /// There is no file.
        case failed
    }

    /// What the download is doing.
    public var phase = Phase.preparing
    /// How many bytes of the file are there. Smaller than before only when ``restarts`` has grown.
    public var receivedBytes: Int64 = 0
    /// How many bytes there will be, if the server has said so.
    public var totalBytes: Int64?
    /// Bytes per second, over the last few seconds.
    public var bytesPerSecond: Double = 0
    /// How long the rest takes at this rate; nil while that is not known.
    public var timeLeft: Duration?
    /// How many attempts there have been, this one included; zero before the first.
    public var attempt = 0
    /// How often the download has resumed where it was.
    public var resumptions = 0
    /// How often it has started over after bytes had come, or been announced.
    public var restarts = 0
    /// The time left until the deadline; nil without one.
    public var remaining: Duration?
    /// The time left of the pause, in the phase ``Phase/pausing``.
    public var pause: Duration?
    /// Why the last attempt failed, or what the network lacks; nil when all is well, and at the end: its reason is the
    /// outcome.
    public var trouble: String?

    /// The state before anything has happened.
    public init() {}

    /// The fraction that is there, from 0 to 1; nil while the total is not known.
    public var fraction: Double? {
        totalBytes.map { $0 > 0 ? min(1, Double(receivedBytes) / Double($0)) : phase == .finished ? 1 : 0 }
    }
}
