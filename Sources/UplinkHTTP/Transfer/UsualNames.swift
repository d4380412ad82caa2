// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes

/// The names of fields that most answers have, made once: a name that is made anew is checked, put into lower case and
/// kept twice.
enum UsualNames {
    /// By their length, in the spelling that servers use.
    private static let names: [[(text: [UInt8], name: HTTPField.Name)]] = {
        let all = [
            "Accept-Ranges", "Age", "Allow", "Alt-Svc", "Cache-Control", "Connection", "Content-Disposition",
            "Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Date", "ETag", "Expires",
            "Keep-Alive",
            "Last-Modified", "Link", "Location", "Server", "Set-Cookie", "Strict-Transport-Security",
            "Transfer-Encoding", "Vary", "Via", "X-Request-Id", "content-length", "content-type", "date", "server",
        ]
        var names = [[(text: [UInt8], name: HTTPField.Name)]](repeating: [], count: 32)
        for text in all {
            guard let name = HTTPField.Name(text) else { continue }
            names[text.utf8.count].append((Array(text.utf8), name))
        }
        return names
    }()

    /// The name, or nil where it is no valid one.
    static func name(_ bytes: Slice<UnsafeRawBufferPointer>) -> HTTPField.Name? {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        if bytes.count < names.count, let start = bytes.baseAddress {
            for usual in names[bytes.count] where memcmp(usual.text, start, bytes.count) == 0 { return usual.name }
        }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }
}
