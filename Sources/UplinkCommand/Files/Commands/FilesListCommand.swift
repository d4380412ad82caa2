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

struct FilesMakeFolderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mkdir", abstract: "Make a folder.", usage: "uplink files mkdir <path> [<options>]")

    @Argument(help: "The path on the server; the folder it is in must exist, unless --parents is given.")
    var path: String

    @Flag(name: .shortAndLong, help: "Make the folders on the way as well; it is no error if all are there.")
    var parents = false

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print the folder as JSON.")
    var json = false

    func run() async throws {
        let path = RemotePath(path)
        guard let name = path.names.last else { throw CommandFailure("the root exists; give the path of a new folder") }
        try await connection.run { [json, parents] files in
            let folder: Item
            if parents {
                folder = try await Self.makeFolders(path, files)
            } else {
                let parent = try await files.folder(at: path.parent)
                folder = try await files.naming(name, in: parent.id) {
                    $0.isFolder ? "`\(path)` exists (-p makes that no error)" : "`\(path)` exists, and is a file"
                } _: {
                    try await files.makeFolder(named: name, in: parent.id)
                }
            }
            if json {
                try FilesOutput.json(ListedItem(item: folder, change: try await files.changes(of: folder).first))
            }
        }
    }

    /// Creates the missing folders of the path, and returns the last one.
    private static func makeFolders(_ path: RemotePath, _ files: FilesUseCases) async throws -> Item {
        var folder = try await files.user().root
        for name in path.names {
            if let next = try await files.list(folder.id).item(named: name) {
                guard next.isFolder else {
                    throw CommandFailure("`\(path)` cannot be made: `\(name)` on the way is a file")
                }
                folder = next
            } else {
                let parent = folder.id
                folder = try await files.naming(name, in: parent) {
                    try await files.makeFolder(named: name, in: parent)
                }
            }
        }
        return folder
    }
}

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
