// SPDX-License-Identifier: Apache-2.0

/// How much is stored for working without the server.
struct OfflineLimits: Sendable, Hashable {
    /// The most bytes of a file's content that is stored for reading.
    var content: Int64 = 16 << 20
    /// The most bytes of all contents; the least recently used are removed first.
    var contents: Int64 = 256 << 20
    /// The most bytes of one pending upload.
    var upload: Int64 = 4 << 30
    /// The most bytes of all pending uploads.
    var uploads: Int64 = 16 << 30
    /// The most items of all listings; the least recently read are removed first.
    var items = 100_000
}
