// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes

/// The field names that most responses contain, made once: a new name is validated, converted to lower case and stored
/// twice.
enum UsualNames {
    /// By length, in the spelling that servers use.
    private static let names: [[(text: StaticString, name: HTTPField.Name)]] = {
        let all: [StaticString] = [
            "Accept-Ranges", "Age", "Allow", "Alt-Svc", "Cache-Control", "Connection", "Content-Disposition",
            "Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Date", "ETag", "Expires",
            "Keep-Alive", "Last-Modified", "Link", "Location", "Server", "Set-Cookie", "Strict-Transport-Security",
            "Transfer-Encoding", "Vary", "Via", "X-Request-Id", "content-length", "content-type", "date", "server",
        ]
        var names = [[(text: StaticString, name: HTTPField.Name)]](repeating: [], count: 32)
        for text in all {
            guard let name = HTTPField.Name(text.description) else { continue }
            names[text.utf8CodeUnitCount].append((text, name))
        }
        return names
    }()

    /// Returns the name, or nil if it is not valid.
    static func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
        if bytes.count < names.count, let start = bytes.baseAddress {
            let usual = names[bytes.count]
            // By index: iterating over the elements would copy them.
            for place in usual.indices where memcmp(usual[place].text.utf8Start, start, bytes.count) == 0 {
                return usual[place].name
            }
        }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }
}
