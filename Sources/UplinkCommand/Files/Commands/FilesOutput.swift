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

    /// A line for each item: size, date, name; folders end in a slash.
    static func lines(_ items: [Item]) -> String {
        let sizes = items.map { item in
            item.isFolder ? "folder" : item.size.map { "\(ByteCount(Int(clamping: $0)))" } ?? "?"
        }
        let width = sizes.map(\.count).max() ?? 0
        return zip(items, sizes).map { item, size in
            let padding = String(repeating: " ", count: width - size.count)
            let date = item.modificationDate.description.prefix(16).replacing("T", with: " ")
            return "\(padding)\(size)  \(date)  \(item.name)\(item.isFolder ? "/" : "")\n"
        }.joined()
    }

    /// The text without characters that a terminal would obey.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }
}
