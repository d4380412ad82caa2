// SPDX-License-Identifier: Apache-2.0

/// How a file can be shown, by its content type.
enum ContentKind: Sendable, Hashable {
    /// `image/…`.
    case image
    /// `text/…`.
    case text
    /// Anything else, including content without a type.
    case data

    /// Decides only by the top-level type: servers say `image/jpg` as well as `image/jpeg`. Parameters do not matter.
    init(_ contentType: String?) {
        let type = contentType?.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        switch parts.first?.lowercased().trimmingPrefix(while: { $0 == " " || $0 == "\t" }) {
        case "image" where parts.count == 2: self = .image
        case "text" where parts.count == 2: self = .text
        default: self = .data
        }
    }
}
