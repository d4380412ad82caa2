// SPDX-License-Identifier: Apache-2.0

extension NetworkPath: CustomStringConvertible {
    /// One line for people, such as `satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1`.
    public var description: String {
        let words = isSatisfied ? wayOut : whatIsMissing
        return words.isEmpty ? status.rawValue : "\(status.rawValue): " + words.joined(separator: ", ")
    }

    private var wayOut: [String] {
        let families = [("IPv4", ipv4), ("IPv6", ipv6)].compactMap { $1.isAvailable ? $1.words(after: $0) : nil }
        return [primaryInterface?.words].compactMap { $0 } + families + notes
    }

    private var whatIsMissing: [String] {
        let names = alternatives.map(\.name).joined(separator: ", ")
        let hint = names.isEmpty ? [] : ["would work when bound: \(names)"]
        return [unsatisfiedReason?.explanation].compactMap { $0 } + hint + notes
    }

    private var notes: [String] {
        [(isExpensive, "expensive"), (isConstrained, "constrained"), (!isAuthoritative, "not authoritative")]
            .compactMap { $0 ? $1 : nil }
    }
}

extension NetworkInterface {
    /// Its name, its kind and what carries it, such as `tun0 (tunnel over eth0)`.
    fileprivate var words: String {
        "\(name) (\(kind.rawValue)\(underlying?.path.interface.map { " over \($0)" } ?? ""))"
    }
}

extension FamilyPath {
    /// The route of an available family, such as `IPv4 192.0.2.10 via 192.0.2.1`.
    fileprivate func words(after name: String) -> String {
        let details = [source.map { " \($0)" }, gateway.map { " via \($0)" }, isDegraded ? " (deprecated)" : nil]
        return name + details.compactMap { $0 }.joined() + validation.words
    }
}

extension PathValidation {
    fileprivate var words: String {
        switch self {
        case .disabled, .probing: ""
        case .validated: " (validated)"
        case .captivePortal: " (captive portal)"
        case .failed: " (not validated)"
        }
    }
}
