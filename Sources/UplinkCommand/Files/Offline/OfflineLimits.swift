// SPDX-License-Identifier: Apache-2.0

/// How much is kept for work without the server.
struct OfflineLimits: Sendable, Hashable {
    /// The most bytes of a file's content that are kept for reading.
    var content: Int64 = 16 << 20
    /// The most bytes of all contents; those that were used longest ago go first.
    var contents: Int64 = 256 << 20
    /// The most bytes of one upload that waits.
    var upload: Int64 = 4 << 30
    /// The most bytes of all uploads that wait.
    var uploads: Int64 = 16 << 30
    /// The most items of all listings; those that were read longest ago go first.
    var items = 100_000
}
