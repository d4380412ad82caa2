// SPDX-License-Identifier: Apache-2.0

/// A download that has been started.
///
/// A value of which any number of copies may be kept, or none: to drop it neither cancels the download nor leaks.
public struct Download: Sendable {
    let core: DownloadCore

    /// How the download goes: the present state first, then every change, and the end.
    ///
    /// Any number may iterate. Who is slow gets the newest element and holds nobody up.
    public var progress: DownloadProgressUpdates { DownloadProgressUpdates(board: core.board) }

    /// How the download goes at this moment, with its rate and its time left of now; for those who draw at a pace of
    /// their own.
    public var currentProgress: DownloadProgress { core.currentProgress }

    /// The file, as soon as it stands whole under its name.
    ///
    /// To cancel the task that waits here does not cancel the download; ``cancel()`` does.
    ///
    /// - Throws: ``DownloadError``, or `CancellationError` after ``cancel()``.
    public var value: DownloadedFile {
        get async throws { try await core.outcome().get() }
    }

    /// Cancels the download. From any thread, at any moment, any number of times; after the end it does nothing.
    ///
    /// The outcome is `CancellationError` then, unless the file has its name by now. What has come is kept for a later
    /// download, unless ``DownloadOptions/resumes`` is false.
    public func cancel() { core.end(.cancelled) }

    /// The file; cancels the download when the task is cancelled.
    func ended() async throws -> DownloadedFile {
        try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            cancel()
        }
    }
}
