// SPDX-License-Identifier: Apache-2.0

/// One of the places of a batch, as the download that has it knows it.
struct DownloadPlace: Sendable {
    /// The download pauses; another one may have the place.
    let lend: @Sendable () -> Void
    /// Returns when there is a place again, or the task is cancelled.
    let takeBack: @Sendable () async -> Void
}
