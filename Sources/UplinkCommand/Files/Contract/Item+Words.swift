// SPDX-License-Identifier: Apache-2.0

extension Item {
    /// Its size for a person.
    var sizeInWords: String { isFolder ? "folder" : size.map { "\(ByteCount(Int(clamping: $0)))" } ?? "?" }
    /// When it was changed, for a person.
    var dateInWords: String { modificationDate.inWords }
}

extension Timestamp {
    /// To the minute, in UTC: `2026-11-22 10:02`.
    var inWords: String { String(description.prefix(16).replacing("T", with: " ")) }
}
