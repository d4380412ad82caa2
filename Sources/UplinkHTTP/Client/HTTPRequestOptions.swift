// SPDX-License-Identifier: Apache-2.0

/// What one request does differently from its client's configuration.
public struct HTTPRequestOptions: Sendable {
    /// In place of the configuration's; `total` covers queue, redirects, retries and body.
    public var timeouts: HTTPTimeouts?
    /// Told what happens, from any thread; must not block.
    package var observer: (@Sendable (HTTPEvent) -> Void)?

    /// Sets the options; those left out make no difference.
    public init(timeouts: HTTPTimeouts? = nil) { self.timeouts = timeouts }
}
