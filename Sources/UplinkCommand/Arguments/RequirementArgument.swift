// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import UplinkCore

/// What is needed of the network, as words on the command line.
enum RequirementArgument {
    private static let named: [(name: String, requirement: NetworkRequirement, meaning: String)] = [
        ("internet", .internet, "a way to the internet over IPv4 or IPv6"),
        ("ipv4", .ipv4, "a way to the internet over IPv4"),
        ("ipv6", .ipv6, "a way to the internet over IPv6"),
        ("both", .bothFamilies, "a way to the internet over IPv4 and over IPv6"),
        ("local", .localNetwork, "a network, with or without the internet"),
        ("notmetered", .notMetered, "the internet, not known to cost by volume"),
    ]
    private static let kinds = NetworkInterface.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    /// All that is known, for the help.
    static let help = """
        Requirements:

        \(named.map { "  \($0.name.padded(to: 16))\($0.meaning)" }.joined(separator: "\n"))
          interface=NAME  through the interface of this name
          kind=KIND       through an interface of this kind:
                          \(kinds)
        """

    static func parse(_ text: String) throws -> NetworkRequirement {
        if let known = named.first(where: { $0.name == text }) { return known.requirement }
        if let name = text.value(of: "interface"), !name.isEmpty { return .interface(name) }
        if let kind = text.value(of: "kind").flatMap(NetworkInterface.Kind.init) { return .interfaceKind(kind) }
        throw ValidationError(
            "known are \(named.map(\.name).joined(separator: ", ")), interface=NAME, and kind=KIND with one of \(kinds)"
        )
    }
}

extension String {
    fileprivate func value(of key: String) -> String? {
        hasPrefix("\(key)=") ? String(dropFirst(key.count + 1)) : nil
    }

    /// The text with spaces after it, for columns in the help.
    func padded(to length: Int) -> String { self + String(repeating: " ", count: max(0, length - count)) }
}
