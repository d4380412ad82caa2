// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// A server: a scheme, a host and a port. All transfers to a server share one of these.
final class Origin {
    let url: HTTPURL
    let text: String
    /// The proxy that leads there; nil for a direct connection.
    let proxy: CurlTransport.Proxy?
    /// What libcurl looks up for it (`EngineSettings.lookup(for:through:)`); nil if an address is known.
    let lookup: String?
    /// The generation in which, and the time until which, libcurl knows the host's addresses.
    private var known = (generation: UInt64(0), until: Int64.min)
    /// A little less than the time for which libcurl keeps addresses.
    private static let knownTime: Int64 = 50_000_000_000
    /// The newest head that the server has sent.
    @exclusivity(unchecked) var newestHead = RememberedHead.none

    /// Notes that a request goes out on a new connection. libcurl's addresses may be older, if they were known already.
    func wasLookedUp(in generation: Generation?, now: Int64) {
        guard let generation, !isKnown(in: generation.number, at: now) else { return }
        known = (generation.number, now + Self.knownTime)
    }

    /// Whether no transfer need wait for another one to look the name up.
    func isKnown(in generation: UInt64, at now: Int64) -> Bool { known.generation == generation && now < known.until }

    init(_ text: String, of url: HTTPURL, _ settings: EngineSettings) {
        (self.text, self.url) = (text, url)
        proxy = settings.proxies.proxy(for: url)
        lookup = settings.lookup(for: url, through: proxy)
    }
}
