// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// A requirement of the network, as words on the command line: `ipv6,unmetered,stable:5`.
struct RequirementArgument: Sendable {
    /// What the path must be like.
    private(set) var requirement: NetworkRequirement?
    /// The address that the path has to lead to; nil for the internet.
    private(set) var destination: String?

    /// The internet, or whatever leads to the destination.
    static let internet = RequirementArgument()

    private init() {}

    /// Reads words separated by commas; all of them have to be met.
    static func parse(_ text: String) throws -> Self {
        var argument = Self()
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for word in words { try argument.add(word) }
        if argument.destination != nil,
            let word = named.first(where: { words.contains($0.name) && !$0.isOfDestinations })?.name
        {
            throw ValidationError(
                "`\(word)` is not about the way to a destination; leave one of them out, or wait for the one, then for "
                    + "the other")
        }
        return argument
    }

    /// The way to a host: to its address, of whose family alone it has to be, or for a name, what names need. Nil for
    /// this host itself, which is always there.
    ///
    /// - Parameter host: A name or an address, an IPv6 address with or without brackets.
    static func way(to host: String, forNames requirement: NetworkRequirement) -> Self? {
        var argument = Self()
        let text = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard let address = IPAddress(text) else {
            argument.requirement = requirement
            return LocalName.isLoopback(text) ? nil : argument
        }
        argument.destination = text
        // The transport refuses an address to which no packet can be sent.
        return address.isLoopback || (try? argument.monitor()) == nil ? nil : argument
    }

    /// The monitor that knows the path.
    ///
    /// - Parameter configuration: The monitor's configuration; nil for that of the process-wide monitor.
    /// - Throws: `NetworkMonitorError` when the destination is not valid.
    func monitor(_ configuration: LinuxNetworkMonitor.Configuration? = nil) throws -> LinuxNetworkMonitor {
        let monitor = configuration.map { LinuxNetworkMonitor(on: .shared, configuration: $0) } ?? .shared
        return try destination.map { try monitor.destination($0) } ?? monitor
    }

    /// The requirement, with the destination in its description.
    var whole: NetworkRequirement {
        guard let destination else { return requirement ?? .internet }
        let way = NetworkRequirement.predicate("a way to \(destination)") { $0.isSatisfied }
        return requirement.map(way.and) ?? way
    }

    private mutating func add(_ word: String) throws {
        if let known = Self.named.first(where: { $0.name == word || $0.alias == word }) {
            return join(known.requirement)
        }
        // `interface=eth0` means the same as `interface:eth0`.
        guard let separator = word.firstIndex(where: { $0 == ":" || $0 == "=" }) else { throw Self.unknown(word) }
        let value = String(word[word.index(after: separator)...])
        switch word[..<separator] {
        case "interface" where !value.isEmpty:
            guard NetworkInterface.canBeNamed(value) else {
                throw ValidationError(
                    "`\(value)` is no interface's name, which has 15 bytes at most and neither `/`, `:` nor spaces; "
                        + "alternative names are not known here")
            }
            join(.interface(value))
        case "kind":
            guard let kind = NetworkInterface.Kind(rawValue: value) else {
                throw ValidationError("`\(value)` is no kind of interface; known are \(Self.kinds)")
            }
            join(.interfaceKind(kind))
        case "stable":
            guard let seconds = try? SecondsArgument.parse(value), seconds.isFinite else {
                throw ValidationError("stable:\(value) names no time that can pass; give seconds, such as stable:5")
            }
            join(.stable(for: .saturating(seconds: seconds)))
        case "destination":
            guard destination == nil else { throw ValidationError("there can be one destination only") }
            destination = value
            do { _ = try monitor() } catch { throw ValidationError("\(error)") }
        default: throw Self.unknown(word)
        }
    }

    private mutating func join(_ other: NetworkRequirement) { requirement = requirement.map { $0.and(other) } ?? other }
}

extension RequirementArgument {
    /// A requirement that is one word.
    private struct Named {
        let name: String
        var alias: String?
        let requirement: NetworkRequirement
        let meaning: String
        /// Whether it says something of the way to a destination, too.
        var isOfDestinations = false
    }

    private static let named = [
        Named(name: "internet", requirement: .internet, meaning: "a way to the internet over IPv4 or IPv6"),
        Named(name: "ipv4", requirement: .ipv4, meaning: "a way to the internet over IPv4"),
        Named(name: "ipv6", requirement: .ipv6, meaning: "a way to the internet over IPv6"),
        Named(name: "both", requirement: .bothFamilies, meaning: "a way to the internet over IPv4 and over IPv6"),
        Named(name: "local", requirement: .localNetwork, meaning: "a network, with or without the internet"),
        Named(
            name: "unmetered", alias: "notmetered", requirement: .notMetered,
            meaning: "the internet, not known to cost by volume", isOfDestinations: true),
    ]
    private static let kinds = NetworkInterface.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    /// All words, for the help.
    static let help = """
        Requirements, several of them separated by commas:

        \(named.map { "  \($0.name.padded(to: 21))\($0.meaning)" }.joined(separator: "\n"))
          interface:NAME       through the interface of this name
          kind:KIND            through an interface of this kind:
                               \(kinds)
          stable:SECONDS       there for so long without a break, since this command first saw it
          destination:ADDRESS  a way to this address, with or without the internet; then unmetered,
                               interface, kind and stable are about that way, and the others
                               cannot be asked for
        """

    private static func unknown(_ word: String) -> ValidationError {
        ValidationError(
            "`\(word)` is no requirement; known are \(named.map(\.name).joined(separator: ", ")), interface:NAME, "
                + "kind:KIND with one of \(kinds), stable:SECONDS, destination:ADDRESS; separate several by commas")
    }
}

extension String {
    /// The text with spaces after it, for columns in the help.
    func padded(to length: Int) -> String { self + String(repeating: " ", count: max(0, length - count)) }
}
