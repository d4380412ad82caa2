// SPDX-License-Identifier: Apache-2.0

/// A download that has been started.
///
/// Keep any number of copies of it, or none: dropping it neither cancels the download nor leaks anything.
public struct Download: Sendable {
    let core: DownloadCore

    /// The download's progress: the present state first, then every change, and the end.
    ///
    /// Any number of tasks may iterate. A slow reader gets the newest element and delays nobody.
    public var progress: DownloadProgressUpdates { DownloadProgressUpdates(board: core.board) }

    /// The download's progress at this moment, with its current rate and time left, for programs that draw at their own
    /// pace.
    public var currentProgress: DownloadProgress { core.currentProgress }

    /// The file, as soon as it is whole and has its name.
    ///
    /// Cancelling the task that waits here does not cancel the download; ``cancel()`` does.
    ///
    /// - Throws: ``DownloadError``, or `CancellationError` after ``cancel()``.
    public var value: DownloadedFile {
        get async throws { try await core.outcome().get() }
    }

    /// Cancels the download. May be called from any thread, at any moment, any number of times; after the end it does
    /// nothing.
    ///
    /// The outcome is then `CancellationError`, unless the file has its name already. What has come is kept for a later
    /// download, unless ``DownloadOptions/resumes`` is false.
    public func cancel() { core.end(.cancelled) }

    /// The file. Cancels the download when the task is cancelled.
    func ended() async throws -> DownloadedFile {
        try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            cancel()
        }
    }
}
