// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPClient {
    /// How a client behaves. The defaults are careful ones.
    public struct Configuration: Sendable {
        /// How long each part may take, where a call says nothing else.
        public var timeouts = HTTPTimeouts()
        /// What a server may make us hold.
        public var limits = HTTPLimits()
        /// Redirects to follow; zero returns the redirect itself as the answer.
        public var maximumRedirects = 10
        /// Whether a redirect may lead from `https` to `http`.
        public var allowsInsecureRedirects = false
        /// Fields that, like `Authorization` and `Cookie`, never follow a redirect to another origin, and are never
        /// logged.
        public var sensitiveFields: [HTTPField.Name] = []
        /// What stands between the client and its transport, the outermost first; see ``HTTPMiddleware``.
        public var middlewares: [any HTTPMiddleware] = []
        /// Refuses `http` altogether.
        public var requiresHTTPS = false
        /// Whether bodies are asked for compressed, and decoded while they are read, where a request says nothing about it
        /// by `Accept-Encoding` or `Range` of its own.
        ///
        /// It takes the package trait `Compression` (gzip and deflate by zlib); without it nothing is asked for, and an
        /// encoded body is an error. Where this is false, bodies are given as they come. Fields are
        /// left as they came, and `contentLength` is nil for a decoded body.
        public var decodesContent = true
        /// The `User-Agent` where a request has none; nil sends none.
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
