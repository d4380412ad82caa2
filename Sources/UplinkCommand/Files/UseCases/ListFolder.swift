// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Lists a folder.
protocol ListFolder: Sendable {
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(_ folder: ItemID) async throws -> Listing
}

struct RemoteListFolder: ListFolder {
    let remote: RemoteFiles

    func callAsFunction(_ folder: ItemID) async throws -> Listing {
        try await remote.json(
            .get, "/items/\(folder)", accepting: [200], while: "list the folder", FilesJSON.listing)
    }
}
