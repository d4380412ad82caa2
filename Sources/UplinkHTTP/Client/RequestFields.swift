// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// The fields that go out with a request. An object, so that the same one need not be compared again.
package final class RequestFields: Sendable {
    package let all: HTTPFields
    /// Whether the response's content codings are undone; if not, the caller has asked for them.
    let decodesContent: Bool

    /// Whether there is a field that is for a proxy and not for the server.
    package let namesProxyAuthorization: Bool

    /// About how many bytes they have in a request's head.
    package var byteCount: Int {
        all.reduce(0) { sum, field in sum + field.name.rawName.utf8.count + field.withUnsafeBytesOfValue(\.count) + 4 }
    }

    init(_ all: HTTPFields, decodesContent: Bool = false) {
        (self.all, self.decodesContent) = (all, decodesContent)
        namesProxyAuthorization = all.contains(.proxyAuthorization)
    }

    /// Makes fields from a request's own and those that a client adds.
    convenience init(
        _ fields: HTTPFields, _ contentType: String?, userAgent: HTTPField?, _ configuration: HTTPClient.Configuration
    ) {
        var all = fields
        if !fields.contains(.userAgent), let userAgent { all.append(userAgent) }
        if !fields.contains(.contentType), let contentType { all[.contentType] = contentType }
        let asksByItself = fields.contains(.acceptEncoding) || fields.contains(.range)
        let decodesContent = configuration.decodesContent && !asksByItself
        if decodesContent, let accepted = ContentCoding.accepted { all[.acceptEncoding] = accepted }
        self.init(all, decodesContent: decodesContent)
    }
}

extension HTTPFields {
    /// Whether they ask for other content codings than ours, or for a part, which is not decoded either.
    var asksForOwnCodings: Bool {
        let asked = self[.acceptEncoding]
        return asked != nil && asked != ContentCoding.accepted || contains(.range)
    }
}
