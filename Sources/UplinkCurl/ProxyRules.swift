// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// Decides which proxy a URL goes through: pure.
struct ProxyRules: Sendable {
    private var byScheme: [HTTPURL.Scheme: CurlTransport.Proxy] = [:]
    private var exceptions: [Exception] = []

    /// Hosts that are connected to directly.
    private enum Exception {
        /// All hosts.
        case any
        /// This name, and those below it.
        case name(String)
        /// The addresses that begin with these bits.
        case network(IPAddress, Int)
    }

    /// - Parameter environment: Returns the value of a variable.
    init(_ rule: CurlTransport.ProxyRule, environment: (String) -> String?) throws(HTTPClientError) {
        switch rule {
        case .none: break
        case .always(let proxy, let except):
            byScheme = [.http: proxy, .https: proxy]
            for text in except {
                guard let exception = Self.exception(text) else {
                    throw CurlTransport.Configuration.invalid(
                        "`\(HTTPFields.printable(text))` in the proxy's exceptions is no name, address, network or `*`")
                }
                exceptions.append(exception)
            }
        case .fromEnvironment:
            byScheme[.http] = try Self.proxy(["http_proxy", "all_proxy", "ALL_PROXY"], environment)
            byScheme[.https] = try Self.proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], environment)
            let words = Self.first(of: ["no_proxy", "NO_PROXY"], environment)?.value ?? ""
            exceptions = words.split { $0 == "," || $0.isWhitespace }.compactMap { Self.exception(String($0)) }
        }
        for proxy in byScheme.values { try proxy.validate() }
    }

    /// The proxy for a URL; nil for a direct connection.
    func proxy(for url: HTTPURL) -> CurlTransport.Proxy? {
        guard let proxy = byScheme[url.scheme] else { return nil }
        let host = Self.withoutRoot(url.hostWithoutBrackets)
        let address = IPAddress(host)
        let isException = exceptions.contains { exception in
            switch exception {
            case .any: true
            case .name(let name): host == name || host.hasSuffix(".\(name)")
            case .network(let network, let length): address?.sharesPrefix(ofLength: length, with: network) ?? false
            }
        }
        return isException ? nil : proxy
    }

    /// Nil for what excepts nothing.
    private static func exception(_ text: String) -> Exception? {
        if text == "*" { return .any }
        let parts = text.split(separator: "/", maxSplits: 1)
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        if let address = IPAddress(bare) { return .network(address, address.bytes.count * 8) }
        if parts.count == 2, let network = IPAddress(String(parts[0])), let length = Int(parts[1]),
            (0...network.bytes.count * 8).contains(length)
        {
            return .network(network, length)
        }
        let dotted = text.hasPrefix("*.") ? text.dropFirst() : text[...]
        let name = withoutRoot(String(dotted.lowercased().drop { $0 == "." }))
        let isName = name.utf8.allSatisfy { $0 >= 0x80 || $0.isAlphanumeric || "-._".utf8.contains($0) }
        let isPartOfAddress = name.split(separator: ".").last?.allSatisfy(\.isWholeNumber) ?? true
        return isName && !isPartOfAddress ? .name(name) : nil
    }

    /// A name without the dot for the root (RFC 1034, section 3.1): with and without it, it is the same host.
    private static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

    private static func proxy(
        _ names: [String], _ environment: (String) -> String?
    ) throws(HTTPClientError) -> CurlTransport.Proxy? {
        guard let (name, value) = first(of: names, environment) else { return nil }
        do throws(HTTPClientError) {
            return try CurlTransport.Proxy(value)
        } catch {
            throw CurlTransport.Configuration.invalid("the environment's `\(name)` is no proxy; \(error.message)")
        }
    }

    private static func first(
        of names: [String], _ environment: (String) -> String?
    ) -> (name: String, value: String)? {
        for name in names {
            if let value = environment(name), !value.isEmpty { return (name, value) }
        }
        return nil
    }
}
