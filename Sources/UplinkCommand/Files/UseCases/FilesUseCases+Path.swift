// SPDX-License-Identifier: Apache-2.0

extension Listing {
    /// The item with this name. Names that differ only in their Unicode form are distinguished if both exist.
    func item(named name: String) -> Item? {
        // Items that the server has take precedence over those still to be sent, which it may refuse. What is to be
        // deleted makes room for them.
        let named = items.filter { $0.name == name }
        let staying = named.filter { change(of: $0).map { !$0.makesItem && $0.isConflict } ?? true }
        let made = named.filter { change(of: $0)?.makesItem ?? false }
        return staying.named(name) ?? made.named(name) ?? named.named(name)
    }
}

extension [Item] {
    /// The item with this name; another Unicode form of it counts if there is none with this one.
    func named(_ name: String) -> Item? {
        first { $0.name.utf8.elementsEqual(name.utf8) } ?? first { $0.name == name }
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

    /// The folder at a path.
    ///
    /// - Throws: ``FilesError``, also when the path is a file's; or `CancellationError`.
    func folder(at path: RemotePath) async throws -> Item {
        let item = try await item(at: path)
        guard item.isFolder else { throw FilesError(.notFound, "`\(path)` is a file, not a folder") }
        return item
    }

    /// The file at a path.
    ///
    /// - Throws: ``FilesError``, also when the path is a folder's; or `CancellationError`.
    func file(at path: RemotePath) async throws -> Item {
        let item = try await item(at: path)
        guard !item.isFolder else { throw FilesError(.notFound, "`\(path)` is a folder, not a file") }
        return item
    }

    /// Runs `body`, which gives a name to something new. If the server refuses, finds the reason from the rules and the
    /// folder, because a status does not say it.
    ///
    /// - Parameter taken: The message if an item has the name already.
    /// - Throws: What `body` throws, with a better message if there is one.
    func naming<Value>(
        _ name: String, in folder: ItemID,
        taken: (Item) -> String = {
            "the folder has `\($0.name)` already; delete that one first, or choose another name"
        },
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch let error as FilesError where error.code == .refused {
            if let problem = ItemName.problem(with: name) { throw FilesError(.refused, problem) }
            guard let item = try? await list(folder).item(named: name) else { throw error }
            throw FilesError(.refused, taken(item))
        }
    }
}
