// SPDX-License-Identifier: Apache-2.0
#if Store

/// A folder whose deletion is about to be sent: it goes only if nothing has come into it that the user did not know of,
/// because the server deletes whatever is in it by then.
struct DoomedFolder: Sendable {
    let folder: Item
    /// The number of the deletion.
    let entry: Int64
    let remote: any ListFolder
    let files: OfflineStore

    /// Looks into every folder that the user had looked into. In the others, only the date tells.
    ///
    /// - Returns: Why the folder is not what was to be deleted; nil if it is.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func surprise() async throws -> String? {
        var unseen = [(folder, folder.name)]
        while let (next, path) = unseen.popLast() {
            let known = try await files.read { [entry] db in try DoomedTable.item(next.id, for: entry, in: db) }
            guard let known, known.isListed else {
                guard next.modificationDate == known?.item.modificationDate else {
                    return "`\(path)` has changed since"
                }
                continue
            }
            guard let listing = try await listing(of: next.id) else { continue }
            guard listing.malformed == 0 else { return "`\(path)` has items that cannot be read" }
            let inside = try await files.read { [entry] db in try DoomedTable.items(in: next.id, for: entry, in: db) }
            for item in listing.items {
                let path = "\(path)/\(item.name)"
                guard let before = inside[item.id]?.item else { return "`\(path)` is new since" }
                guard SendingAnswer.isStillMeant(item, as: before) else { return "`\(path)` has changed since" }
                if item.isFolder { unseen.append((item, path)) }
            }
        }
        return nil
    }

    /// - Returns: nil if the folder has gone meanwhile.
    private func listing(of folder: ItemID) async throws -> Listing? {
        do { return try await remote(folder) } catch let error as FilesError where error.code == .notFound {
            return nil
        }
    }
}
#endif
