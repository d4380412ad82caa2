// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What is new in a path, in words for people. Pure.
struct PathNews: Equatable {
    /// How an item is to be taken.
    enum Mood: Equatable { case good, bad, notable }

    /// One thing that is new.
    struct Item: Equatable {
        let words: String
        let mood: Mood

        static func good(_ words: String) -> Self { Self(words: words, mood: .good) }
        static func bad(_ words: String) -> Self { Self(words: words, mood: .bad) }
        static func notable(_ words: String) -> Self { Self(words: words, mood: .notable) }
    }

    let items: [Item]

    /// Describes the first path as it is, and later ones by their difference from the path before.
    init(_ path: NetworkPath, after before: NetworkPath?) {
        guard let before else {
            items = [path.isSatisfied ? .good("\(path)") : .bad("\(path)")]
            return
        }
        let differences = Self.sleep(before, path) + Self.status(before, path) + Self.costs(before, path)
        items = (differences.isEmpty ? [.notable("\(path)")] : differences) + Self.gaps(before, path)
    }

    private static func sleep(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        path.lastResume == before.lastResume ? [] : [.notable("the system woke from sleep")]
    }

    private static func status(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        let reason = path.unsatisfiedReason?.explanation ?? "no network"
        switch (before.isSatisfied, path.isSatisfied) {
        case (true, false): return [.bad("network lost: \(reason)")] + alternatives(before, path)
        case (false, true): return [.good("network there: \(path.wayOut)")] + validation(before, path)
        case (false, false):
            let isSameReason = before.unsatisfiedReason == path.unsatisfiedReason
            return (isSameReason ? [] : [.bad("still no network: \(reason)")]) + scope(before, path)
                + alternatives(before, path)
        case (true, true):
            return handover(before, path) + families(before, path) + validation(before, path)
        }
    }

    /// Paths that were missed, because they lasted too short a time to be reported or were not read in time; except for
    /// the probing that ends with this path.
    private static func gaps(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        let own = UInt64(validation(before, path).count)
        return path.generation > before.generation + 1 + own ? [.notable("other changes came and went in between")] : []
    }

    private static func scope(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        guard before.scope != path.scope else { return [] }
        let reach =
            switch path.scope {
            case .none: "packets go nowhere"
            case .host: "this host reaches itself alone"
            case .link: "neighbours on a link can be reached"
            case .site: "local networks can be reached"
            case .global: "the internet can be reached"
            }
        return [.notable(reach)]
    }

    private static func alternatives(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        let names = path.alternatives.map(\.name)
        guard !names.isEmpty, names != before.alternatives.map(\.name) else { return [] }
        return [.notable("a socket bound to \(names.joined(separator: " or ")) would work")]
    }

    private static func handover(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        guard let old = before.primaryInterface, let new = path.primaryInterface else { return [] }
        if old.index == new.index, old.name != new.name { return [.notable("\(old.name) is called \(new.name) now")] }
        if old.index != new.index { return [.notable("now through \(new.words), no longer through \(old.name)")] }
        let (oldCarrier, newCarrier) = (old.underlying?.path.interface, new.underlying?.path.interface)
        guard oldCarrier != newCarrier, let newCarrier else { return [] }
        return [.notable("\(new.name) is carried by \(newCarrier) now")]
    }

    private static func families(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        IPAddress.Family.allCases.flatMap { family -> [Item] in
            let (old, new, name) = (before[family], path[family], family.words)
            switch (old.isAvailable, new.isAvailable) {
            case (false, false): return []
            case (false, true): return [.good("\(name) too: \(new.words)")]
            case (true, false):
                return [.bad("\(name) lost: \(new.unsatisfiedReason?.explanation ?? "no way")")]
            case (true, true):
                return difference("\(name) gateway", old.gateway, new.gateway)
                    + difference("\(name) address", old.source, new.source)
            }
        }
    }

    private static func difference(_ name: String, _ old: IPAddress?, _ new: IPAddress?) -> [Item] {
        guard old != new else { return [] }
        return [.notable("\(name) \(new.map { "\($0)" } ?? "none"), was \(old.map { "\($0)" } ?? "none")")]
    }

    private static func validation(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        IPAddress.Family.allCases.compactMap { family in
            let (old, new) = (before[family].validation, path[family].validation)
            guard old.state != new.state || old.captivePortalURL != new.captivePortalURL else { return nil }
            return switch new {
            case .disabled, .probing: nil
            case .validated: .good("\(family.words) validated")
            case .captivePortal(let url): .bad("\(family.words) captive portal\(url.map { ", log in at \($0)" } ?? "")")
            case .failed(let reason): .bad("\(family.words) not validated: \(reason)")
            }
        }
    }

    private static func costs(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        var items: [Item] = []
        if before.isExpensive != path.isExpensive {
            items.append(.notable(path.isExpensive ? "metered now" : "no longer metered"))
        }
        if before.isConstrained != path.isConstrained {
            items.append(.notable(path.isConstrained ? "constrained now" : "no longer constrained"))
        }
        if before.isAuthoritative != path.isAuthoritative {
            items.append(.notable(path.isAuthoritative ? "seen by netlink again" : "looked at without netlink"))
        }
        return items + nameServers(before, path)
    }

    /// Without a network it goes without saying that no name server can be reached.
    private static func nameServers(_ before: NetworkPath, _ path: NetworkPath) -> [Item] {
        let areOthers = before.dns.resolvers.map(\.text) != path.dns.resolvers.map(\.text)
        guard areOthers || (before.dns != path.dns && before.isSatisfied && path.isSatisfied) else { return [] }
        let servers = path.dns.resolvers.map { "\($0.text)\($0.hasRoute ? "" : " (no route)")" }
        return [.notable("name servers: \(servers.isEmpty ? "none" : servers.joined(separator: ", "))")]
    }
}

extension NetworkPath {
    /// The way out without the status: `eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1`.
    fileprivate var wayOut: String {
        let prefix = "\(status.rawValue): "
        return description.hasPrefix(prefix) ? String(description.dropFirst(prefix.count)) : description
    }
}

extension NetworkInterface {
    fileprivate var words: String { "\(name) (\(kind.rawValue))" }
}

extension IPAddress.Family {
    /// The address family as people write it.
    var words: String {
        switch self {
        case .ipv4: "IPv4"
        case .ipv6: "IPv6"
        }
    }
}

extension FamilyPath {
    fileprivate var words: String {
        (source.map { "\($0)" } ?? "no address") + (gateway.map { " via \($0)" } ?? "")
    }
}
