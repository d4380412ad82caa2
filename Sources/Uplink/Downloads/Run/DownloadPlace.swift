// SPDX-License-Identifier: Apache-2.0

/// A place in a batch, as seen by the download that has it.
struct DownloadPlace: Sendable {
    /// Lends the place to another download, because this one pauses or waits for the network.
    let lend: @Sendable () -> Void
    /// Returns when there is a place again, or the task is cancelled; immediately if the place was not lent.
    let takeBack: @Sendable () async -> Void
}
