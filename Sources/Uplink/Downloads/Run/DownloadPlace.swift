// SPDX-License-Identifier: Apache-2.0

/// A place in a batch, as seen by the download that has it.
struct DownloadPlace: Sendable {
    /// Lends the place to another download, because this one pauses.
    let lend: @Sendable () -> Void
    /// Returns when there is a place again, or the task is cancelled.
    let takeBack: @Sendable () async -> Void
}
