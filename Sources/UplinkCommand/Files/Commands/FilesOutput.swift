// SPDX-License-Identifier: Apache-2.0

/// What the commands print.
enum FilesOutput {
    /// A document in one line.
    static func json(_ value: some Encodable) throws {
        try Output.standard.write(String(decoding: try FilesJSON.encode(value), as: UTF8.self) + "\n")
    }

    static func user(_ user: User) throws {
        try Output.standard.write("\(printable(user.firstName)) \(printable(user.lastName))\n")
    }

    /// A line for each item: size, date, name; folders end in a slash. A pending change follows the item's name.
    static func lines(_ listing: Listing) -> String {
        let sizes = listing.items.map(\.sizeInWords)
        let width = sizes.map(\.count).max() ?? 0
        return zip(listing.items, sizes).map { item, size in
            let padding = String(repeating: " ", count: width - size.count)
            let change = listing.change(of: item).map { "  (\(mark($0)))" } ?? ""
            let name = printable(item.name) + (item.isFolder ? "/" : "")
            return "\(padding)\(size)  \(item.dateInWords)  \(name)\(change)\n"
        }.joined()
    }

    /// A line for each change: number, state, what is to be done, and why it has not been.
    static func lines(_ changes: [PendingChange]) -> String {
        let width = changes.map { String($0.id).count }.max() ?? 0
        return changes.map { change in
            let number = String(change.id)
            let padding = String(repeating: " ", count: width - number.count)
            let reason = change.reason.map { ": \(printable($0))" } ?? ""
            return "\(padding)\(number)  \(change.stateWord)  \(change.date.inWords)  \(change.words)\(reason)\n"
        }.joined()
    }

    private static func mark(_ change: PendingChange) -> String {
        switch (change.state, change.kind) {
        case (.conflict, _): "conflict, number \(change.id)"
        case (_, .upload): "to be uploaded"
        case (_, .newFolder): "to be made"
        case (_, .deletion): "to be deleted"
        }
    }

    /// The text without characters that a terminal would interpret.
    static func printable(_ text: String) -> String { Text.oneLine(text).plain }
}
