// SPDX-License-Identifier: Apache-2.0

/// How many of a batch's downloads run at the same time.
///
/// A download that pauses between attempts, or waits for its network, does not count as running, except towards its
/// host's limit, so hosts that are down do not hold up the others. At most eight times ``maximumRunning`` downloads
/// pause or wait beside those that run.
public struct DownloadBatchLimits: Sendable, Hashable {
    /// Over all hosts.
    public var maximumRunning = 6
    /// To one host (scheme, name and port), including downloads that pause or wait.
    public var maximumRunningPerHost = 3

    /// The default limits.
    public init() {}
}
