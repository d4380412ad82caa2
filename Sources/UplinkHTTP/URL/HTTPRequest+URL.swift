// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPRequest {
    /// Makes a request from an absolute URL: the one place where a URL's text is parsed.
    ///
    /// - Parameters:
    ///   - url: `http` or `https`, percent-encoded, without user and password; a fragment is not sent.
    ///   - method: GET unless said otherwise.
    ///   - headerFields: Fields to send.
    /// - Throws: ``HTTPClientError`` with the code ``HTTPClientError/Code/invalidURL``, which says what to change.
    public init(
        parsing url: String, method: Method = .get, headerFields: HTTPFields = [:]
    ) throws(HTTPClientError) {
        self.init(method: method, url: try HTTPURLParser.parse(url), headerFields: headerFields)
    }

    package init(method: Method, url: HTTPURL, headerFields: HTTPFields = [:]) {
        self.init(
            method: method, scheme: url.scheme.rawValue, authority: url.authority, path: url.target,
            headerFields: headerFields)
    }

    /// The URL that the request's parts form as text, not checked.
    package var uncheckedURL: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "")" }

    /// Returns the URL that the request's parts form, parsed each time because anybody can set the parts.
    ///
    /// - Throws: ``HTTPClientError`` when a part is missing or they do not form a URL.
    package func checkedURL() throws(HTTPClientError) -> HTTPURL {
        guard let scheme, let authority, let path, path.hasPrefix("/") else {
            throw HTTPClientError(
                .invalidURL, phase: .request,
                message: "the request lacks a scheme, an authority or a path; make it with HTTPRequest(parsing:)")
        }
        // Otherwise one part could become a piece of another, and the request go elsewhere than its parts say.
        guard !scheme.contains(":"), !authority.contains(where: { "/?#".contains($0) }) else {
            throw HTTPClientError(
                .invalidURL, phase: .request,
                message: "the request's scheme or authority is more than that; make it with HTTPRequest(parsing:)")
        }
        let url = try HTTPURLParser.parse(scheme + "://" + authority + path)
        guard url.fragment == nil else {
            throw HTTPClientError(
                .invalidURL, phase: .request, message: "the request's path contains `#`; percent-encode it")
        }
        return url
    }
}
