// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
public import UplinkHTTP

/// Many downloads that were started together; the failure of one does not stop the others.
///
/// Keep any number of copies of it, or none: dropping it neither cancels the downloads nor leaks anything.
public struct DownloadBatch: Sendable {
    let core: DownloadBatchCore

    /// The batch's progress: the present state first, then every change, and the end. As ``Download/progress``.
    ///
    /// An element describes all items, and is made when it is read: with thousands of items, read at a pace of your
    /// own.
    public var progress: DownloadBatchProgressUpdates { DownloadBatchProgressUpdates(board: core.board) }

    /// The batch's progress at this moment.
    public var currentProgress: DownloadBatchProgress { core.currentProgress }

    /// How each download ended, in the items' order, as soon as all have: ``DownloadError`` or `CancellationError` if
    /// there is no file.
    ///
    /// Cancelling the task that waits here does not cancel the batch; ``cancel()`` does.
    public var results: [Result<DownloadedFile, any Error>] {
        get async { await core.results() }
    }

    /// Cancels all downloads that have not ended. May be called from any thread, at any moment, any number of times.
    public func cancel() { core.cancelAll() }

    /// Cancels one download, by its index among the items. If it has not started yet, it never does.
    public func cancel(_ item: Int) { core.cancel(item) }
}

extension HTTPClient {
    /// Downloads many files, a limited number at a time and the hosts in turn, and returns how each ended, in the
    /// items' order.
    ///
    /// Cancelling the task cancels all. An item with the same target as an earlier one is refused
    /// (``DownloadError/Code/targetBusy``).
    ///
    /// - Parameters:
    ///   - items: What to download, and where to.
    ///   - limit: One deadline for all, from this call, on each item's own clock. Items whose turn has not come by then
    ///     end with ``DownloadError/Code/deadlineExceeded`` too, at most about a second later.
    ///   - limits: How many run at the same time; less than one counts as one.
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

    /// Starts many downloads and returns immediately; see ``downloadAll(_:within:limits:)``.
    @discardableResult
    public func startDownloads(
        _ items: [DownloadItem], within limit: Duration, limits: DownloadBatchLimits = .init()
    ) -> DownloadBatch {
        let core = DownloadBatchCore(self, items, within: limit, limits: limits)
        core.start()
        return DownloadBatch(core: core)
    }
}
