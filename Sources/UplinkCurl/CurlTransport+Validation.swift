// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import UplinkCore
import UplinkHTTP

extension CurlTransport.Configuration {
    /// - Throws: `HTTPClientError` when a setting is invalid, by itself or together with another.
    func validate() throws(HTTPClientError) {
        let counts = [
            ("maximumConcurrentTransfers", maximumConcurrentTransfers, 1),
            ("maximumConcurrentTransfersPerHost", maximumConcurrentTransfersPerHost, 1),
            ("maximumQueuedTransfers", maximumQueuedTransfers, 0),
            ("maximumConcurrentLookups", maximumConcurrentLookups, 1),
            ("maximumIdleConnections", maximumIdleConnections, 1),
            ("maximumBufferedBytes", maximumBufferedBytes, 1),
            ("maximumRequestsPerConnection", maximumRequestsPerConnection ?? 1, 1),
        ]
        for (name, value, least) in counts where value < least {
            throw Self.invalid("`\(name)` is \(value); give \(least) or more")
        }
        let times = [
            ("maximumIdleTime", maximumIdleTime), ("maximumConnectionAge", maximumConnectionAge),
            ("unacknowledgedTimeout", unacknowledgedTimeout ?? .seconds(1)),
        ]
        for (name, value) in times where value <= .zero || value > .seconds(86_400) {
            throw Self.invalid("`\(name)` is \(value); give more than zero and no more than a day")
        }
        // The kernel refuses more as TCP_KEEPIDLE, and libcurl would only log that (tcp(7)).
        if let keepAlive, keepAlive <= .zero || keepAlive > .seconds(32_767) {
            throw Self.invalid("`keepAlive` is \(keepAlive); give more than zero and no more than 32767 seconds")
        }
        try validateAddresses()
        for pin in pinnedKeys where !Self.isPin(pin) {
            throw Self.invalid(
                "`\(pin)` in `pinnedKeys` is not `sha256//` and the base64 of a SHA-256 digest, 44 characters")
        }
        if publicAddressesOnly, proxy != .none || unixSocket != nil {
            throw Self.invalid(
                "`publicAddressesOnly` cannot be held to through a proxy or a Unix socket; leave one of them out")
        }
        if unixSocket != nil, proxy != .none { throw Self.invalid("`unixSocket` and `proxy` exclude each other") }
        // The size of sun_path in sockaddr_un, less the terminating zero (unix(7)).
        if let path = unixSocket, path.length > 107 || path.isEmpty {
            throw Self.invalid("`unixSocket` has \(path.length) bytes; 1 to 107 are possible")
        }
    }

    /// The addresses that the configuration has for a host.
    func addresses(ofHost host: String, port: UInt16) -> [IPAddress]? {
        if resolve.isEmpty { return nil }
        if let known = resolve["\(host):\(port)"] ?? resolve["\(host):*"] { return known }
        // The dot of the root does not make it another name.
        return host.hasSuffix(".") ? addresses(ofHost: String(host.dropLast()), port: port) : nil
    }

    private func validateAddresses() throws(HTTPClientError) {
        for (key, addresses) in resolve {
            let name = key.hasSuffix(":*") ? "\(key.dropLast())1" : key
            let url = try? HTTPRequest(parsing: "http://\(name)/").checkedURL()
            guard let url, "\(url.host):\(url.port)" == name, IPAddress(url.hostWithoutBrackets) == nil,
                url.host.utf8.first?.isAlphanumeric == true || url.host.hasPrefix("_")
            else { throw Self.invalid("the key `\(key)` of `resolve` is not `host:port`, with a name for a host") }
            guard addresses.contains(where: { addressFamily ?? $0.family == $0.family }) else {
                throw Self.invalid("`resolve` has no address for `\(key)` of the family that is wanted")
            }
        }
        switch localEnd {
        case .interface(let name):
            // What follows a `!` would be something else to libcurl.
            guard NetworkInterface.canBeNamed(name), !name.utf8.contains(UInt8(ascii: "!")) else {
                throw Self.invalid("`\(name)` is no name of an interface; `ip link` shows what there is")
            }
        case .address, nil: break
        }
    }

    private static func isPin(_ pin: String) -> Bool {
        guard pin.hasPrefix("sha256//"), pin.utf8.count == 8 + 44, pin.hasSuffix("=") else { return false }
        // The last character has two bits that mean nothing; with another one in them, libcurl finds no key the same.
        guard pin.utf8.dropLast().last.map("AEIMQUYcgkosw048".utf8.contains) == true else { return false }
        return pin.utf8.dropFirst(8).dropLast().allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }

    static func invalid(_ message: String) -> HTTPClientError {
        HTTPClientError(.invalidConfiguration, phase: .request, message: message)
    }
}
