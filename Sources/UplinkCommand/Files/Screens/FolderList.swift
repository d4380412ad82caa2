// SPDX-License-Identifier: Apache-2.0

/// The folder screen: where it is, what is in it, and which item is chosen.
struct FolderList: Sendable, Equatable {
    /// The folders from the root to this one.
    private(set) var path: [Item]
    /// Nil until it has come.
    private(set) var listing: Listing?
    /// The number of the chosen item; 0 in an empty folder.
    private(set) var selection = 0
    /// How many items are above those that are seen.
    private(set) var offset = 0

    init(path: [Item]) { self.path = path }

    var items: [Item] { listing?.items ?? [] }
    var chosen: Item? { items.indices.contains(selection) ? items[selection] : nil }
    var folder: Item? { path.last }
    /// What is still to become of the chosen item.
    var chosenChange: PendingChange? { chosen.flatMap { listing?.change(of: $0) } }

    /// Takes a new listing, of this or of another folder. What is chosen stays so, if it is still there.
    ///
    /// - Parameter wanted: What to choose instead.
    mutating func show(_ listing: Listing, of path: [Item], choosing wanted: ItemID? = nil) {
        let isSame = path.last?.id == folder?.id
        // Coming back up, it is the folder one comes from.
        let previous = isSame ? chosen?.id : self.path.dropFirst(path.count).first?.id
        let before = isSame ? selection : 0
        self.path = path
        self.listing = listing
        let found = items.firstIndex { $0.id == wanted } ?? items.firstIndex { $0.id == previous }
        selection = found ?? max(0, min(before, items.count - 1))
        if !isSame { offset = 0 }
    }

    /// Does what a key does in a list.
    ///
    /// - Parameter rows: How many items are seen at once.
    mutating func move(_ key: Key, rows: Int) {
        switch key {
        case .up, .character("k"): selection -= 1
        case .down, .character("j"): selection += 1
        case .pageUp: selection -= rows
        case .pageDown, .character(" "): selection += rows
        case .home: selection = 0
        case .end: selection = items.count - 1
        case .character, .control, .paste, .enter, .escape, .tab, .backTab, .backspace, .delete, .left, .right: break
        }
        selection = max(0, min(selection, items.count - 1))
    }

    /// The items that are seen in so many rows, the chosen one among them.
    mutating func scroll(rows: Int) {
        let rows = max(1, rows)
        offset = max(0, min(offset, items.count - rows))
        if selection < offset { offset = selection }
        if selection >= offset + rows { offset = selection - rows + 1 }
    }
}
