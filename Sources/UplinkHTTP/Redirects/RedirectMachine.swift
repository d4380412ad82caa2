// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Decides where a request goes next: the pure half of following redirects (RFC 9110, section 15.4).
struct RedirectMachine {
    /// What to do with a response.
    enum Action: Equatable {
        /// It is the final response.
        case deliver
        /// Send another request: ``RedirectMachine/request``.
        case follow
    }

    /// The request to send now.
    private(set) var request: HTTPTransportRequest
    /// The URL of the current request.
    private(set) var url: HTTPURL
    /// The URLs of the earlier ones.
    private(set) var history: [HTTPURL] = []
    /// What was requested so far: a method and a URL each.
    private var asked: Set<String> = []
    /// Whether the response's content codings are undone; if not, the caller has asked for them.
    let decodesContent: Bool
    let call: HTTPCall

    var configuration: HTTPClient.Configuration { call.settings.configuration }

    var redactedHistory: [String] { history.map(\.redacted) }

    init(_ head: RequestHead, body: HTTPRequestBody = .none, of call: HTTPCall) throws(HTTPClientError) {
        let settings = call.settings
        try RequestCheck.check(head.method, head.fields, body)
        let fields = try settings.fields(head.fields, body.contentType)
        if settings.configuration.requiresHTTPS, head.url.scheme == .http { throw .httpsRequired }
        request = HTTPTransportRequest(
            head.method, head.url, fields, body: body,
            timeouts: call.options.timeouts ?? settings.configuration.timeouts, limits: settings.configuration.limits,
            isIdempotent: call.options.isIdempotent)
        (url, decodesContent, self.call) = (head.url, fields.decodesContent, call)
    }

    mutating func received(_ response: HTTPResponse) throws(HTTPClientError) -> Action {
        switch response.status.code {
        case 301, 302, 303, 307, 308: break
        default: return .deliver
        }
        let locations = locations(in: response)
        guard configuration.maximumRedirects > 0, let location = locations.first else { return .deliver }
        history.append(url)
        guard locations.count == 1 else {
            throw failure(.redirectForbidden, "the server names \(locations.count) different targets")
        }
        let next = try resolve(location)
        guard history.count <= configuration.maximumRedirects else {
            throw failure(.tooManyRedirects, "more than \(configuration.maximumRedirects) redirects")
        }
        asked.insert("\(request.method.rawValue) \(url.textWithoutFragment)")
        var fields = request.headerFields
        let method = method(after: response.status)
        if method != request.method || (response.status.code == 303 && !request.body.isNone) { dropBody(&fields) }
        // A middleware may have taken something from the answer that makes the next request another one (cookies).
        let isKnown = asked.contains("\(method.rawValue) \(next.textWithoutFragment)")
        guard !isKnown || !configuration.middlewares.isEmpty else {
            throw failure(.tooManyRedirects, "the redirects go round in a circle, back to \(next.redacted)")
        }
        guard !request.body.isSpent else {
            throw failure(
                .bodyNotReplayable,
                "the redirect wants the body again, which cannot be produced again; "
                    + "send it to \(next.redacted), or give a body that is replayable")
        }
        if !next.hasSameOrigin(as: url) {
            let named = configuration.sensitiveFields + call.options.sensitiveFields
            for name in [.authorization, .cookie, .proxyAuthorization] + named { fields[name] = nil }
        }
        url = next
        request = HTTPTransportRequest(
            method, next, RequestFields(fields), body: request.body, timeouts: request.timeouts, limits: request.limits,
            isIdempotent: request.isIdempotent)
        return .follow
    }

    /// The method of the next request (RFC 9110, sections 15.4.2 to 15.4.9), as in every browser.
    private func method(after status: HTTPResponse.Status) -> HTTPRequest.Method {
        switch (status.code, request.method) {
        case (301, .post), (302, .post): .get
        case (303, let method) where method != .head: .get
        default: request.method
        }
    }

    /// Fields about a body that do not begin with `Content-` (RFC 9110, section 15.4; RFC 9530).
    private static let aboutBody: Set = ["digest", "repr-digest", "last-modified"]

    /// The next request is a different one, without a body.
    private mutating func dropBody(_ fields: inout HTTPFields) {
        (request.body, request.isIdempotent) = (.none, nil)
        for name in fields.map(\.name)
        where name.canonicalName.hasPrefix("content-") || Self.aboutBody.contains(name.canonicalName) {
            fields[name] = nil
        }
    }

    private func locations(in response: HTTPResponse) -> Set<String> {
        Set(response.headerFields[fields: .location].map { $0.withUnsafeBytesOfValue(encodingWhatServersLeave) })
    }

    private func resolve(_ location: String) throws(HTTPClientError) -> HTTPURL {
        let next: HTTPURL
        do throws(HTTPClientError) {
            next = try HTTPURLParser.resolve(location, against: url)
        } catch {
            throw failure(.redirectForbidden, "the redirect cannot be followed: \(error.message)")
        }
        let isDowngrade = url.scheme == .https && next.scheme == .http
        if isDowngrade, configuration.requiresHTTPS || !configuration.allowsInsecureRedirects {
            throw failure(.redirectForbidden, "the redirect leads from https to http; ask for the target yourself")
        }
        return next
    }

    /// Servers put raw spaces, UTF-8 and older encodings into `Location`, and characters that no URL may contain; every
    /// browser encodes these bytes as they are. Not encoded are such characters in the name of a host, and the
    /// backslash, which some treat as a slash.
    private func encodingWhatServersLeave(_ location: some Sequence<UInt8>) -> String {
        let bytes = Array(location)
        let authority = authority(in: bytes)
        return bytes.indices.reduce(into: "") { text, place in
            let byte = bytes[place]
            let isLeft =
                switch byte {
                case 0x20, 0x80...: true
                case _ where authority.contains(place): false
                case UInt8(ascii: "%"):
                    !bytes[(place + 1)...].prefix(2).allSatisfy(\.isHexDigit) || place + 2 >= bytes.count
                default: "\"<>^`{|}[]".utf8.contains(byte)
                }
            if isLeft {
                PercentEncoding.append(byte, to: &text)
            } else {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
    }

    /// The range of a reference that names a host.
    private func authority(in reference: [UInt8]) -> Range<Int> {
        let slash = UInt8(ascii: "/")
        let colon = reference.firstIndex { $0 == UInt8(ascii: ":") || "/?#".utf8.contains($0) }
        let start = colon.flatMap { reference[$0] == UInt8(ascii: ":") ? $0 + 1 : nil } ?? 0
        guard reference[start...].starts(with: [slash, slash]) else { return 0..<0 }
        return start..<(reference[(start + 2)...].firstIndex { "/?#".utf8.contains($0) } ?? reference.endIndex)
    }

    private func failure(_ code: HTTPClientError.Code, _ message: String) -> HTTPClientError {
        HTTPClientError(code, phase: .redirect, requestDisposition: .responseStarted, message: message)
            .concerning(self)
    }
}

extension HTTPClientError {
    /// A request would go out unencrypted, which is not allowed.
    static let httpsRequired = HTTPClientError(
        .invalidURL, phase: .request, message: "the URL is `http` and the client requires `https`")

    /// Returns the error with the URLs that it concerns. An error that names another URL belongs to another request,
    /// made by a middleware or the body's producer.
    func concerning(_ hops: RedirectMachine) -> Self {
        let place = hops.url.redacted
        guard url.isEmpty || url == place else { return self }
        var error = self
        error.url = place
        error.redirects = hops.redactedHistory
        return error
    }
}
