// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
public import SystemPackage
public import UplinkHTTP

/// One of many downloads.
public struct DownloadItem: Sendable {
    /// An absolute `http` or `https` URL (RFC 3986).
    public var url: String
    /// The file's path.
    public var target: FilePath
    /// Fields to send with each attempt.
    public var headers: HTTPFields
    /// What this download does differently.
    public var options: DownloadOptions

    /// Puts an item together.
    public init(
        _ url: String, to target: FilePath, headers: HTTPFields = [:], options: DownloadOptions = .init()
    ) {
        (self.url, self.target, self.headers, self.options) = (url, target, headers, options)
    }
}

/// How many of a batch's downloads run at once.
public struct DownloadBatchLimits: Sendable, Hashable {
    /// Over all hosts.
    public var maximumRunning = 6
    /// To one host (scheme, name and port).
    public var maximumRunningPerHost = 3

    /// The default limits.
    public init() {}
}

/// Many downloads that have been started together; none stops another by failing.
///
/// A value of which any number of copies may be kept, or none: to drop it neither cancels the downloads nor leaks.
public struct DownloadBatch: Sendable {
    /// How the batch goes: the present state first, then every change, and the end. As ``Download/progress``.
    public var progress: DownloadBatchProgressUpdates { DownloadBatchProgressUpdates() }

    /// How the batch goes at this moment.
    public var currentProgress: DownloadBatchProgress { DownloadBatchProgress() }

    /// What each download ended with, in the items' order, as soon as all have: ``DownloadError`` or `CancellationError`
    /// where there is no file.
    ///
    /// To cancel the task that waits here does not cancel the batch; ``cancel()`` does.
    public var results: [Result<DownloadedFile, any Error>] {
        get async { [] }
    }

    /// Cancels all downloads that have not ended. From any thread, at any moment, any number of times.
    public func cancel() {}

    /// Cancels one download, by its place among the items. One that has not started never does.
    public func cancel(_ item: Int) {}
}

/// How a batch goes, at one moment.
public struct DownloadBatchProgress: Sendable, Hashable {
    /// What has become of one item.
    public enum Item: Sendable, Hashable {
        /// It waits for its turn.
        case queued
        /// It is under way.
        case running(DownloadProgress)
        /// Its file stands under its name, with so many bytes.
        case finished(bytes: Int64)
        /// There is no file; the text says why.
        case failed(String)
    }

    /// Each item, in the items' order.
    public var items: [Item] = []
    /// Bytes that are there, of all items together. Smaller than before only when an item has begun anew or failed.
    public var receivedBytes: Int64 = 0
    /// Bytes that there will be; nil until every item that has not failed has said so.
    public var totalBytes: Int64?
    /// Bytes per second of all together.
    public var bytesPerSecond: Double = 0
    /// How long the rest takes at this rate; nil while nobody can tell.
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

/// How a batch goes, as an asynchronous sequence: the present state first, then every change, newest wins.
public struct DownloadBatchProgressUpdates: AsyncSequence, Sendable {
    /// A whole state, not a difference.
    public typealias Element = DownloadBatchProgress
    /// The sequence does not fail.
    public typealias Failure = Never

    /// Begins with the present state.
    public func makeAsyncIterator() -> Iterator { Iterator() }

    /// One reader. For use by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        /// The newest state as soon as it differs from the one before; nil after the end and when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> DownloadBatchProgress? { nil }
    }
}

extension HTTPClient {
    /// Downloads many files, so many at once, hosts in turn, and returns what each ended with, in the items' order.
    ///
    /// To cancel the task cancels all. Items whose target another item has are refused.
    ///
    /// - Parameters:
    ///   - items: What is downloaded, and where to.
    ///   - limit: One deadline over all.
    ///   - limits: How many run at once.
    public func downloadAll(
        _ items: [DownloadItem], within limit: Duration, limits: DownloadBatchLimits = .init()
    ) async -> [Result<DownloadedFile, any Error>] {
        await startDownloads(items, within: limit, limits: limits).results
    }

    /// Starts many downloads and returns at once; see ``downloadAll(_:within:limits:)``.
    @discardableResult
    public func startDownloads(
        _ items: [DownloadItem], within limit: Duration, limits: DownloadBatchLimits = .init()
    ) -> DownloadBatch {
        DownloadBatch()
    }
}
