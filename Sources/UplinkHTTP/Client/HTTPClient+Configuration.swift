// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPClient {
    /// The settings of a client. The defaults are careful ones.
    public struct Configuration: Sendable {
        /// How long each part of a request may take, unless a call says otherwise.
        public var timeouts = HTTPTimeouts()
        /// Limits on what a server may make the client hold or do.
        public var limits = HTTPLimits()
        /// The most redirects to follow; zero returns the redirect itself as the response.
        public var maximumRedirects = 10
        /// Whether a redirect may lead from `https` to `http`.
        public var allowsInsecureRedirects = false
        /// Fields of requests that, like `Authorization` and `Cookie`, never follow a redirect to another origin, and
        /// are never logged. A middleware that sets such a field does so for each request of a redirect: it has to look at
        /// the origin, as ``HTTPBasicAuthentication`` does.
        public var sensitiveFields: [HTTPField.Name] = []
        /// The middlewares between the client and its transport, the outermost first; see ``HTTPMiddleware``.
        public var middlewares: [any HTTPMiddleware] = []
        /// Whether `http` is refused altogether.
        public var requiresHTTPS = false
        /// Whether bodies are requested compressed, and decoded while they are read, unless the request has an
        /// `Accept-Encoding` or `Range` field of its own.
        ///
        /// This needs the package trait `Compression` (gzip and deflate by zlib); without it nothing is requested, and
        /// an encoded body is an error. If false, bodies are given as they arrive. Fields are always left as they
        /// arrived, and `contentLength` is nil for a decoded body.
        public var decodesContent = true
        /// The `User-Agent` of requests that have none; nil sends none.
        public var userAgent: String? = "uplink"

        /// The default configuration.
        public init() {}

        /// - Throws: ``HTTPClientError`` when a setting makes no sense.
        func validate() throws(HTTPClientError) {
            try limits.validate()
            guard maximumRedirects < 0 else { return }
            throw HTTPClientError(
                .invalidConfiguration, phase: .request,
                message: "`maximumRedirects` is \(maximumRedirects); give zero or more")
        }
    }
}
