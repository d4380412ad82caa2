// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct FilesRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Delete a file, or a folder with all that is in it.",
        usage: "uplink files rm <path> [<options>]",
        discussion: "Nothing is asked, and nothing comes back.")

    @Argument(help: "The path on the server.")
    var path: String

    @Flag(name: .shortAndLong, help: "Also delete a folder, with all that is in it.")
    var recursive = false

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print the deleted item as JSON.")
    var json = false

    func run() async throws {
        let path = RemotePath(path)
        guard !path.isRoot else { throw CommandFailure("the root cannot be deleted; give the path of an item in it") }
        try await connection.run { [json, recursive] files in
            let item = try await files.item(at: path)
            guard recursive || !item.isFolder else {
                throw CommandFailure("`\(path)` is a folder; --recursive deletes it with all that is in it")
            }
            try await files.delete(item.id)
            if json { try FilesOutput.json(ListedItem(item: item, change: try await files.changes(of: item).first)) }
        }
    }
}
