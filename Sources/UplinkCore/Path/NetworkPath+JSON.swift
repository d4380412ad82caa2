// SPDX-License-Identifier: Apache-2.0

extension NetworkPath {
    /// The path as one line of JSON (RFC 8259): an object with every property of ``NetworkPath`` under its own name.
    ///
    /// Enumerations are strings, scopes too (`"site"`); addresses are strings as ``IPAddress`` describes itself; what is
    /// nil is `null`.
    public var json: String {
        JSON.object([
            ("status", .string(status.rawValue)),
            ("unsatisfiedReason", .string(unsatisfiedReason?.rawValue)),
            ("scope", .string("\(scope)")),
            ("ipv4", ipv4.json),
            ("ipv6", ipv6.json),
            ("interfaces", .array(interfaces.map(\.json))),
            ("isExpensive", .bool(isExpensive)),
            ("isConstrained", .bool(isConstrained)),
            ("generation", .number(generation)),
        ]).text
    }
}

extension FamilyPath {
    fileprivate var json: JSON {
        .object([
            ("isAvailable", .bool(isAvailable)),
            ("unsatisfiedReason", .string(unsatisfiedReason?.rawValue)),
            ("interface", .string(interface)),
            ("interfaceIndex", interfaceIndex.map { .number(UInt64($0)) } ?? .null),
            ("gateway", .string(gateway?.description)),
            ("source", .string(source?.description)),
            ("table", table.map { .number(UInt64($0)) } ?? .null),
        ])
    }
}

extension NetworkInterface {
    fileprivate var json: JSON {
        .object([
            ("name", .string(name)),
            ("index", .number(UInt64(index))),
            ("kind", .string(kind.rawValue)),
            ("addresses", .array(addresses.map { .string($0.description) })),
            ("mtu", .number(UInt64(mtu))),
        ])
    }
}

/// As much of JSON as a path needs.
private struct JSON {
    let text: String

    static let null = JSON(text: "null")

    static func bool(_ value: Bool) -> Self { JSON(text: value ? "true" : "false") }

    static func number(_ value: UInt64) -> Self { JSON(text: String(value)) }

    static func array(_ values: [JSON]) -> Self {
        JSON(text: "[" + values.map(\.text).joined(separator: ",") + "]")
    }

    static func object(_ members: [(name: String, value: JSON)]) -> Self {
        JSON(text: "{" + members.map { string($0.name).text + ":" + $0.value.text }.joined(separator: ",") + "}")
    }

    /// A string; the kernel lets interface names hold quotes, backslashes and control characters.
    static func string(_ value: String?) -> Self {
        guard let value else { return .null }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return JSON(text: text + "\"")
    }
}
