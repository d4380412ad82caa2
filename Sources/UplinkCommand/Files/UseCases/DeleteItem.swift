// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Uplink

/// Deletes a file, or a folder with everything in it.
protocol DeleteItem: Sendable {
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(_ item: ItemID) async throws
}

struct RemoteDeleteItem: DeleteItem {
    let remote: RemoteFiles

    func callAsFunction(_ item: ItemID) async throws {
        do {
            // Not repeated silently: 404 would be the answer to what an earlier request has done.
            try await delete(item, .init(isIdempotent: false), accepting: [200, 204])
        } catch let error as FilesError where error.mayBeDone {
            try await delete(item, .init(), accepting: [200, 204, 404])
        }
    }

    private func delete(_ item: ItemID, _ options: HTTPRequestOptions, accepting statuses: Set<Int>) async throws {
        _ = try await remote.send(
            .delete, "/items/\(item)", options: options, accepting: statuses, while: "delete the item")
    }
}
