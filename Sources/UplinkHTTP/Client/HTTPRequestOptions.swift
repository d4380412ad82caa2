// SPDX-License-Identifier: Apache-2.0

/// What one request does differently from its client's configuration.
public struct HTTPRequestOptions: Sendable {
    /// In place of the configuration's; `total` covers queue, redirects, retries and body.
    public var timeouts: HTTPTimeouts?
    /// Whether the server may see the request twice without harm. Nil goes by the method (RFC 9110, section 9.2.2): GET,
    /// HEAD, OPTIONS, TRACE, PUT and DELETE are, POST and PATCH are not.
    ///
    /// A request that is not idempotent is never repeated in silence; it goes out on a connection of its own rather
    /// than on one that may have died.
    public var isIdempotent: Bool?
    /// Told what happens, from any thread; must not block.
    package var observer: (@Sendable (HTTPEvent) -> Void)?

    /// Sets the options; those left out make no difference.
    public init(timeouts: HTTPTimeouts? = nil, isIdempotent: Bool? = nil) {
        self.timeouts = timeouts
        self.isIdempotent = isIdempotent
    }
}
