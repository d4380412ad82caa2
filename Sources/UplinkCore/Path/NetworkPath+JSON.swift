// SPDX-License-Identifier: Apache-2.0

extension NetworkPath {
    /// The path as one line of JSON (RFC 8259): an object with every stored property of ``NetworkPath`` under its name.
    ///
    /// Enumerations are strings, including scopes (`"site"`); addresses are strings as in ``IPAddress``'s description;
    /// instants are seconds since the system was started, as in `/proc/uptime`; `networkID` is a string of hexadecimal
    /// digits; a validation is an object with its `state`; nil is `null`. Names do not change, but new ones may be
    /// added.
    public var json: String {
        JSON.object([
            ("status", .string(status.rawValue)),
            ("unsatisfiedReason", .string(unsatisfiedReason?.rawValue)),
            ("scope", .string("\(scope)")),
            ("ipv4", ipv4.json),
            ("ipv6", ipv6.json),
            ("interfaces", .array(interfaces.map(\.json))),
            ("alternatives", .array(alternatives.map(\.json))),
            ("isExpensive", .bool(isExpensive)),
            ("isConstrained", .bool(isConstrained)),
            ("dns", dns.json),
            ("generation", .number(generation)),
            ("networkID", .hexadecimal(networkID)),
            ("isAuthoritative", .bool(isAuthoritative)),
            ("lastResume", .seconds(lastResume)),
        ]).text
    }
}

extension FamilyPath {
    fileprivate var json: JSON {
        .object([
            ("isAvailable", .bool(isAvailable)),
            ("unsatisfiedReason", .string(unsatisfiedReason?.rawValue)),
            ("isDegraded", .bool(isDegraded)),
            ("interface", .string(interface)),
            ("interfaceIndex", .number(interfaceIndex)),
            ("gateway", .address(gateway)),
            ("gatewayState", .string(gatewayState?.rawValue)),
            ("source", .address(source)),
            ("table", .number(table)),
            ("validation", validation.json),
        ])
    }
}

extension PathValidation {
    fileprivate var json: JSON {
        switch self {
        case .disabled, .probing: .object([("state", .string(state.rawValue))])
        case .validated(let instant): .object([("state", .string(state.rawValue)), ("at", .seconds(instant))])
        case .captivePortal(let url): .object([("state", .string(state.rawValue)), ("url", .string(url))])
        case .failed(let reason): .object([("state", .string(state.rawValue)), ("reason", .string(reason))])
        }
    }
}

extension NetworkInterface {
    fileprivate var json: JSON {
        .object([
            ("name", .string(name)),
            ("index", .number(index)),
            ("kind", .string(kind.rawValue)),
            ("addresses", .array(addresses.map(JSON.address))),
            ("gateways", .array(gateways.map(JSON.address))),
            ("mtu", .number(mtu)),
            ("isMetered", .bool(isMetered)),
            ("underlying", underlying?.json ?? .null),
        ])
    }
}

extension NetworkInterface.Underlying {
    fileprivate var json: JSON {
        .object([
            ("endpoint", .address(endpoint)),
            ("kind", .string(kind?.rawValue)),
            ("path", path.json),
        ])
    }
}

extension DNSConfiguration {
    fileprivate var json: JSON { .object([("resolvers", .array(resolvers.map(\.json)))]) }
}

extension DNSConfiguration.Resolver {
    fileprivate var json: JSON {
        .object([("address", .address(address)), ("zone", .string(zone)), ("hasRoute", .bool(hasRoute))])
    }
}
