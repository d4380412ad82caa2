// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Deletes a file, or a folder with everything in it.
protocol DeleteItem: Sendable {
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(_ item: ItemID) async throws
}

struct RemoteDeleteItem: DeleteItem {
    let remote: RemoteFiles

    func callAsFunction(_ item: ItemID) async throws {
        _ = try await remote.send(.delete, "/items/\(item)", accepting: [200, 204], while: "delete the item")
    }
}
