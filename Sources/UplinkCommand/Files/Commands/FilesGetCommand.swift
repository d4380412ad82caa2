// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import SystemPackage

struct FilesGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Save a file on this host.",
        usage: "uplink files get <path> [<target>] [--force] [<options>]",
        discussion: """
            The file stands under its name only when it is whole. When the connection breaks, it goes on from where it \
            was; what was interrupted is gone on with by the same command.
            """)

    @Argument(help: "The path on the server.")
    var path: String

    @Argument(help: "The file to write, or the folder to write it to; by itself here, under its name on the server.")
    var target: String?

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print the item as JSON.")
    var json = false

    func validate() throws {
        guard target != "-" else {
            throw ValidationError("`uplink files cat` writes to the standard output; a file called `-` is `./-`")
        }
    }

    func run() async throws {
        let path = RemotePath(path)
        guard let name = path.names.last else { throw CommandFailure("the root is a folder; give the path of a file") }
        let target = try Self.target(target ?? name, name)
        if !force, access(target.string, F_OK) == 0 {
            throw CommandFailure("`\(target)` exists; choose another name, or --force to replace it")
        }
        try await connection.run { [json, force] files in
            let item = try await files.file(at: path)
            let progress = ProgressLine()
            defer { progress.end() }
            try await files.read(item.id, of: item.size, to: target, replacingExisting: force) {
                progress.show($0, of: $1)
            }
            progress.end()
            if json { try FilesOutput.json(ListedItem(item: item, change: try await files.changes(of: item).first)) }
        }
    }

    /// The path to write to: in a folder the file keeps its name.
    private static func target(_ path: String, _ name: String) throws(CommandFailure) -> FilePath {
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        guard isFolder || !path.hasSuffix("/") else { throw CommandFailure(DownloadTarget.noDirectory(path)) }
        return isFolder ? FilePath(path).appending(name) : FilePath(path)
    }
}
