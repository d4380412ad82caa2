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
///
/// One that pauses between attempts does not run, though it counts as one of its host: so hosts that are down do not hold
/// the others up. At most eight times ``maximumRunning`` pause beside those that run.
public struct DownloadBatchLimits: Sendable, Hashable {
    /// Over all hosts.
    public var maximumRunning = 6
    /// To one host (scheme, name and port), those that pause included.
    public var maximumRunningPerHost = 3

    /// The default limits.
    public init() {}
}

/// Many downloads that have been started together; none stops another by failing.
///
/// A value of which any number of copies may be kept, or none: to drop it neither cancels the downloads nor leaks.
public struct DownloadBatch: Sendable {
    let core: DownloadBatchCore

    /// How the batch goes: the present state first, then every change, and the end. As ``Download/progress``.
    ///
    /// An element tells of all items, and is made when it is read: for thousands, read it at a pace of your own.
    public var progress: DownloadBatchProgressUpdates { DownloadBatchProgressUpdates(board: core.board) }

    /// How the batch goes at this moment.
    public var currentProgress: DownloadBatchProgress { core.currentProgress }

    /// What each download ended with, in the items' order, as soon as all have: ``DownloadError`` or `CancellationError`
    /// where there is no file.
    ///
    /// To cancel the task that waits here does not cancel the batch; ``cancel()`` does.
    public var results: [Result<DownloadedFile, any Error>] {
        get async { await core.results() }
    }

    /// Cancels all downloads that have not ended. From any thread, at any moment, any number of times.
    public func cancel() { core.cancelAll() }

    /// Cancels one download, by its place among the items. One that has not started never does.
    public func cancel(_ item: Int) { core.cancel(item) }
}

extension HTTPClient {
    /// Downloads many files, so many at once, hosts in turn, and returns what each ended with, in the items' order.
    ///
    /// To cancel the task cancels all. An item whose target an earlier item has is refused
    /// (``DownloadError/Code/targetBusy``).
    ///
    /// - Parameters:
    ///   - items: What is downloaded, and where to.
    ///   - limit: One deadline over all, from this call, on each item's own clock.
    ///   - limits: How many run at once; less than one counts as one.
    public func downloadAll(
        _ items: [DownloadItem], within limit: Duration, limits: DownloadBatchLimits = .init()
    ) async -> [Result<DownloadedFile, any Error>] {
        let batch = startDownloads(items, within: limit, limits: limits)
        return await withTaskCancellationHandler {
            await batch.results
        } onCancel: {
            batch.cancel()
        }
    }

    /// Starts many downloads and returns at once; see ``downloadAll(_:within:limits:)``.
    @discardableResult
    public func startDownloads(
        _ items: [DownloadItem], within limit: Duration, limits: DownloadBatchLimits = .init()
    ) -> DownloadBatch {
        let core = DownloadBatchCore(self, items, within: limit, limits: limits)
        core.start()
        return DownloadBatch(core: core)
    }
}
