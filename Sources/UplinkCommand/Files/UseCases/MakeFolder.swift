// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// Creates a folder in another one.
protocol MakeFolder: Sendable {
    /// The name goes unchanged to the server, which may refuse it.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(named name: String, in folder: ItemID) async throws -> Item
}

struct RemoteMakeFolder: MakeFolder {
    let remote: RemoteFiles

    func callAsFunction(named name: String, in folder: ItemID) async throws -> Item {
        try await remote.json(
            .post, "/items/\(folder)", body: .json(FilesJSON.newFolder(named: name)), accepting: [200, 201],
            while: "make the folder", FilesJSON.item)
    }
}
