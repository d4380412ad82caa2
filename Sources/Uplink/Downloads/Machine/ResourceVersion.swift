// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// The version of the resource that the bytes that are there belong to.
struct ResourceVersion: Sendable, Hashable {
    /// What distinguishes it from other versions; nil when no later run can go on with it.
    var validator: StrongValidator?
    /// Its size, once it is known.
    var length: Int64?
    /// Where it is, after redirects, as a fingerprint: two resources may have the same validator.
    var place: String
    /// The content codings of the bytes, in the order in which they were applied; usually none.
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

    /// The part of a URL that identifies the resource. The target of a redirect is taken without its query, which in
    /// signed URLs differs each time.
    static func place(of url: String, askedFor asked: String) -> String {
        Fingerprint.of(url == asked ? url : String(url.prefix { $0 != "?" && $0 != "#" }))
    }
}
