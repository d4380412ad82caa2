// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct FilesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List a folder, or tell about a file.",
        usage: "uplink files ls [<path>] [<options>]",
        discussion: "Folders come first, then files, by name. Dates are in UTC.")

    @Argument(help: "The path on the server.")
    var path = "/"

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print an array of items as JSON.")
    var json = false

    func run() async throws {
        try await connection.run { [path, json] files in
            let item = try await files.item(at: RemotePath(path))
            let listing =
                item.isFolder
                ? try await files.list(item.id)
                : Listing(items: [item], malformed: 0, changes: try await files.changes(of: item))
            if listing.malformed > 0 {
                let items = listing.malformed == 1 ? "1 item" : "\(listing.malformed) items"
                try? Output.error.write("The server sent \(items) that cannot be read.\n")
            }
            try json
                ? FilesOutput.json(listing.items.map { ListedItem(item: $0, change: listing.change(of: $0)) })
                : Output.standard.write(FilesOutput.lines(listing))
        }
    }
}
