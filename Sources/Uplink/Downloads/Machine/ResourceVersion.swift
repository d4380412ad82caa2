// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// What the bytes that are there belong to.
struct ResourceVersion: Sendable, Hashable {
    /// What tells it from others; nil when nobody can go on with it later.
    var validator: StrongValidator?
    /// Its size, once it is known.
    var length: Int64?
    /// Where it stands, after redirects, as a fingerprint: two resources may well have the same validator.
    var place: String
    /// The content codings that the bytes are in, in the order in which they were applied; mostly none.
    var codings: [String]

    init(validator: StrongValidator?, length: Int64?, place: String, codings: [String] = []) {
        (self.validator, self.length, self.place, self.codings) = (validator, length, place, codings)
    }

    init(_ answer: DownloadAnswer, askedFor url: String) {
        validator = answer.validator
        length = answer.bodyLength
        place = Self.place(of: answer.url, askedFor: url)
        codings = ContentCoding.names(in: answer.head)
    }

    /// A URL as far as it names the resource. A redirect's target is taken without its query, which in signed URLs differs
    /// each time.
    static func place(of url: String, askedFor asked: String) -> String {
        Fingerprint.of(url == asked ? url : String(url.prefix { $0 != "?" && $0 != "#" }))
    }
}

/// A text's digest, in the place of a text that may contain secrets.
enum Fingerprint {
    static func of(_ text: String) -> String {
        var checksum = SHA256()
        checksum.update(Array(text.utf8))
        return Hexadecimal.text(checksum.finish())
    }
}
