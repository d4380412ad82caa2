// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// The origins that a credential is for.
struct CredentialScope: Sendable {
    private let origins: [HTTPURL]

    /// - Throws: ``HTTPClientError`` when a text is not an origin.
    init(_ origins: [String]) throws(HTTPClientError) {
        var parsed: [HTTPURL] = []
        for origin in origins {
            let url = try HTTPURLParser.parse(origin)
            guard url.path == "/", url.query == nil, url.fragment == nil else {
                throw HTTPClientError(
                    .invalidConfiguration, phase: .request,
                    message: "`\(url.redacted)` is more than an origin; give scheme, host and port alone")
            }
            parsed.append(url)
        }
        guard !parsed.isEmpty else {
            throw HTTPClientError(
                .invalidConfiguration, phase: .request,
                message: "the credential is for no origin; name at least one, such as https://example.org")
        }
        self.origins = parsed
    }

    /// The origins as one text.
    var text: String { origins.map(\.origin).joined(separator: ", ") }

    /// Whether the credential may go with a request: the request's origin is one of these, it was not redirected here
    /// from another origin, and it has no credential of its own.
    func covers(_ request: HTTPClientRequest) -> Bool {
        guard request.head.headerFields[.authorization] == nil, let url = try? request.head.checkedURL(),
            origins.contains(where: { $0.hasSameOrigin(as: url) })
        else { return false }
        return request.history.allSatisfy { $0.hasSameOrigin(as: url) }
    }
}
