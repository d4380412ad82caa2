// SPDX-License-Identifier: Apache-2.0

/// Lets one transfer at a time look something up, because libcurl starts a thread for each that does; the others find
/// the result in libcurl's cache.
package struct ResolveGate: Sendable {
    private let maximumResolving: Int
    private var resolving: [String: UInt64] = [:]
    private var waiting: [(id: UInt64, lookup: String)] = []

    package init(maximumResolving: Int) { self.maximumResolving = maximumResolving }

    /// The transfers that are resolving now.
    package var leaders: [UInt64] { Array(resolving.values) }

    /// Whether the transfer may go on now. If not, a later call returns its id.
    package mutating func enter(_ id: UInt64, lookup: String) -> Bool {
        waiting.append((id, lookup))
        return admit(knowing: nil).contains(id)
    }

    /// The transfer has its result. Returns those that wait for the same one, which may go on.
    package mutating func resolved(_ id: UInt64) -> [UInt64] {
        guard let lookup = resolving.first(where: { $0.value == id })?.key else { return [] }
        resolving[lookup] = nil
        return admit(knowing: lookup)
    }

    /// The transfer is over, with or without a result. Returns those that may try next.
    package mutating func left(_ id: UInt64) -> [UInt64] {
        if let lookup = resolving.first(where: { $0.value == id })?.key {
            resolving[lookup] = nil
        } else if !waiting.isEmpty {
            waiting.removeAll { $0.id == id }
        }
        return admit(knowing: nil)
    }

    private mutating func admit(knowing known: String?) -> [UInt64] {
        guard !waiting.isEmpty else { return [] }
        var admitted: [UInt64] = []
        waiting.removeAll { entry in
            if entry.lookup != known {
                guard resolving[entry.lookup] == nil, resolving.count < maximumResolving else { return false }
                resolving[entry.lookup] = entry.id
            }
            admitted.append(entry.id)
            return true
        }
        return admitted
    }
}
