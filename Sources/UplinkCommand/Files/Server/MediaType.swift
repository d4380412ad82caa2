// SPDX-License-Identifier: Apache-2.0

/// The content type that a name suggests.
enum MediaType {
    private static let types = [
        "css": "text/css", "csv": "text/csv", "gif": "image/gif", "html": "text/html", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "json": "application/json", "md": "text/markdown", "pdf": "application/pdf",
        "png": "image/png", "svg": "image/svg+xml", "swift": "text/plain", "txt": "text/plain",
        "webp": "image/webp", "xml": "text/xml",
    ]

    /// By the name's extension; `application/octet-stream` for any other.
    static func of(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "application/octet-stream" }
        return types[name[name.index(after: dot)...].lowercased()] ?? "application/octet-stream"
    }
}
