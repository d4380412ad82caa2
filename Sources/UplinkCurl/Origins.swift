// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// The servers that were used recently.
struct Origins {
    static let maximumServers = 32
    private let settings: EngineSettings
    private var origins: [String: Origin] = [:]
    /// The server that was asked for last, which is usually asked for next, too.
    private var last: Origin?

    init(_ settings: EngineSettings) { self.settings = settings }

    mutating func origin(of url: HTTPURL) -> Origin {
        if let last, last.url.hasSameOrigin(as: url) { return last }
        let text = url.origin
        let origin = origins[text] ?? add(Origin(text, of: url, settings))
        last = origin
        return origin
    }

    private mutating func add(_ origin: Origin) -> Origin {
        // Any one: who asks more servers than this in turn then still finds most of them.
        if origins.count >= Self.maximumServers { origins.remove(at: origins.startIndex) }
        origins[origin.text] = origin
        return origin
    }
}
