// SPDX-License-Identifier: Apache-2.0

/// The folder screen: its path, its items, and the selected one.
struct FolderList: Sendable, Equatable {
    /// The folders from the root to this one.
    private(set) var path: [Item]
    /// The listing; nil until it has come.
    private(set) var listing: Listing?
    /// The index of the selected item; 0 in an empty folder.
    private(set) var selection = 0
    /// How many items are above the visible ones.
    private(set) var offset = 0

    init(path: [Item]) { self.path = path }

    var items: [Item] { listing?.items ?? [] }
    var chosen: Item? { items.indices.contains(selection) ? items[selection] : nil }
    var folder: Item? { path.last }
    /// The pending change of the selected item.
    var chosenChange: PendingChange? { chosen.flatMap { listing?.change(of: $0) } }

    /// Takes a new listing, of this or of another folder. The selected item stays selected if it is still there.
    ///
    /// - Parameter wanted: What to select instead.
    mutating func show(_ listing: Listing, of path: [Item], choosing wanted: ItemID? = nil) {
        let isSame = path.last?.id == folder?.id
        // On the way back up, select the folder just left.
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
    /// - Parameter rows: How many items are visible.
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

    /// Scrolls so that the selected item is among the visible ones, in this many rows.
    mutating func scroll(rows: Int) {
        let rows = max(1, rows)
        offset = max(0, min(offset, items.count - rows))
        if selection < offset { offset = selection }
        if selection >= offset + rows { offset = selection - rows + 1 }
    }
}
