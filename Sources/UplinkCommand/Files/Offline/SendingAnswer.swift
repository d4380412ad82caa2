// SPDX-License-Identifier: Apache-2.0

/// What an error means for a change that was sent: pure.
enum SendingAnswer: Sendable, Hashable {
    /// The change is made.
    case done
    /// It may succeed later.
    case again(String)
    /// It will not succeed as things are; the user has to decide.
    case conflict(String)
    /// The name may be taken by the very item that is to be created, because the answer to an earlier attempt was lost:
    /// look at the folder.
    case look

    init(_ error: FilesError, to kind: PendingChange.Kind) {
        switch (error.code, kind) {
        case (.unexpectedAnswer, _) where Self.isFinal(error.status): self = .conflict(error.message)
        case (.notFound, .deletion): self = .done
        case (.notFound, .upload), (.notFound, .newFolder):
            self = .conflict("the folder that it is to go into is gone (404)")
        case (.refused, .upload), (.refused, .newFolder): self = .look
        case (.refused, .deletion), (.localFile, _): self = .conflict(error.message)
        case (.wrongUserOrPassword, _), (.unreachable, _), (.serverFailed, _), (.unexpectedAnswer, _),
            (.invalidCredentials, _), (.invalidServer, _), (.busy, _):
            self = .again(error.message)
        }
    }

    /// Whether a status says that the same request will not succeed later either (RFC 9110, section 15.5).
    private static func isFinal(_ status: Int?) -> Bool {
        guard let status, (400..<500).contains(status) else { return false }
        return ![408, 425, 429].contains(status)
    }

    /// Whether an item is still the one that was to be deleted: ids may be reused, and files rewritten.
    /// What has become of a folder's content is another question (``DoomedFolder``).
    static func isStillMeant(_ item: Item, as deleted: Item) -> Bool {
        guard item.isFolder == deleted.isFolder, item.name == deleted.name else { return false }
        return item.isFolder || item.size == deleted.size && item.modificationDate == deleted.modificationDate
    }

    /// Looks among a folder's items for one that could not be created because its name is taken.
    ///
    /// - Returns: The item that may be the same one; for a file, its content has to decide.
    static func twin(_ change: Item, among items: [Item]) -> Item? {
        items.filter { item in
            item.isFolder == change.isFolder && (item.isFolder || item.size == nil || item.size == change.size)
        }.named(change.name)
    }
}
