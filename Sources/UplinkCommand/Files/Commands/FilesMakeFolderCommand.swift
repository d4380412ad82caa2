// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

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
        let name = path.names.last
        guard parents || name != nil else { throw CommandFailure("the root exists; give the path of a new folder") }
        try await connection.run { [json, parents] files in
            let folder: Item
            if let name, !parents {
                let parent = try await files.folder(at: path.parent)
                folder = try await files.naming(name, in: parent.id) {
                    $0.isFolder ? "`\(path)` exists (-p makes that no error)" : "`\(path)` exists, and is a file"
                } _: {
                    try await files.makeFolder(named: name, in: parent.id)
                }
            } else {
                folder = try await Self.makeFolders(path, files)
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
