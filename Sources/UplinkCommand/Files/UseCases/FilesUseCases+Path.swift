// SPDX-License-Identifier: Apache-2.0

extension Listing {
    /// The item with this name. Names that differ in their Unicode form alone are told apart where both are there.
    func item(named name: String) -> Item? {
        // What the server has comes before what it is still to have, and perhaps cannot.
        let named = items.filter { $0.name == name }
        let there = named.filter { !(change(of: $0)?.makesItem ?? false) }
        let found = there.isEmpty ? named : there
        return found.first { $0.name.utf8.elementsEqual(name.utf8) } ?? found.first
    }
}

extension FilesUseCases {
    /// The item at a path, found by listing one folder after the other.
    ///
    /// - Throws: ``FilesError``, also when the path leads nowhere; or `CancellationError`.
    func item(at path: RemotePath) async throws -> Item {
        var item = try await user().root
        for (depth, name) in path.names.enumerated() {
            let place = RemotePath(path.names[..<depth].joined(separator: "/"))
            guard item.isFolder else { throw FilesError(.notFound, "`\(place)` is a file, not a folder") }
            guard let next = try await list(item.id).item(named: name) else {
                throw FilesError(.notFound, "`\(place)` has no item `\(name)`; `uplink files ls` shows what it has")
            }
            item = next
        }
        return item
    }
}
