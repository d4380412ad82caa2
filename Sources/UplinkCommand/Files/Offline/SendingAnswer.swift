// SPDX-License-Identifier: Apache-2.0

/// What an error means for a change that was sent: pure.
enum SendingAnswer: Sendable, Hashable {
    /// What was wanted is so.
    case done
    /// It may go later.
    case again(String)
    /// It will not go as things are; somebody has to decide.
    case conflict(String)
    /// The name may be taken by the very item that is to be made, because the answer to an attempt before was lost: the
    /// folder has to be looked at.
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

    /// Whether a status says that the same request will not do later either (RFC 9110, section 15.5).
    private static func isFinal(_ status: Int?) -> Bool {
        guard let status, (400..<500).contains(status) else { return false }
        return ![408, 425, 429].contains(status)
    }

    /// Whether an item is still what somebody wanted to be deleted: ids may be used again, and files be written anew.
    static func isStillMeant(_ item: Item, as deleted: Item) -> Bool {
        guard item.isFolder == deleted.isFolder, item.name == deleted.name else { return false }
        return item.isFolder || item.size == deleted.size && item.modificationDate == deleted.modificationDate
    }

    /// What the items of a folder with the name of one that could not be made say.
    ///
    /// - Returns: The item that may be the very one; for a file that is to be found out by its content.
    static func twin(_ change: Item, among items: [Item]) -> Item? {
        items.first { item in
            guard item.name == change.name, item.isFolder == change.isFolder else { return false }
            return item.isFolder || item.size == nil || item.size == change.size
        }
    }
}
