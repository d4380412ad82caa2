// SPDX-License-Identifier: Apache-2.0

/// The state of a batch at one moment.
public struct DownloadBatchProgress: Sendable, Hashable {
    /// What has become of one item.
    public enum Item: Sendable, Hashable {
        /// It waits for its turn.
        case queued
        /// It is under way.
        case running(DownloadProgress)
        /// Its file has its name, and this many bytes.
        case finished(bytes: Int64)
        /// There is no file; the text says why.
        case failed(String)
    }

    /// Each item, in the items' order.
    public var items: [Item] = []
    /// How many bytes of all items are there. Smaller than before only when an item has started over or failed.
    public var receivedBytes: Int64 = 0
    /// How many bytes there will be; nil until that is known of every item that has not failed.
    public var totalBytes: Int64?
    /// Bytes per second of all together.
    public var bytesPerSecond: Double = 0
    /// How long the rest takes at this rate; nil while that is not known.
    public var timeLeft: Duration?

    /// The state before anything has happened.
    public init() {}

    /// How many items have their file.
    public var finishedCount: Int { items.count { if case .finished = $0 { true } else { false } } }
    /// How many items have none, and will not.
    public var failedCount: Int { items.count { if case .failed = $0 { true } else { false } } }
    /// How many items are under way.
    public var runningCount: Int { items.count { if case .running = $0 { true } else { false } } }
}
