// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import SystemPackage

struct FilesCatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat", abstract: "Write a file's content to the standard output.",
        usage: "uplink files cat <path> [<options>]")

    @Argument(help: "The path on the server.")
    var path: String

    @OptionGroup
    var connection: FilesArguments

    func run() async throws {
        try await connection.run { [path] files in
            let item = try await files.file(at: RemotePath(path))
            try await files.read(item.id, progress: nil) { bytes in
                do {
                    try bytes.withUnsafeBytes { try Output.standard.write($0) }
                } catch let error as OutputError where error.isClosed {
                    throw ExitCode(1)  // the reader has seen enough; no message is wanted
                }
            }
        }
    }
}

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

struct FilesPutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Upload a file.",
        usage: "uplink files put <file> [<path>] [<options>]",
        discussion: """
            Where the path is a folder's, the file keeps its name; otherwise the path's last part is its new name. A path \
            that ends in a slash is a folder's, which must exist. A file that exists on the server is replaced only with \
            --force: it is deleted first, since servers know no other way.
            """)

    @Argument(help: "The file to upload; `-` is the standard input.")
    var file: String

    @Argument(help: "The path on the server.")
    var path = "/"

    @Flag(help: "Replace the file if it exists on the server.")
    var force = false

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print the new item as JSON.")
    var json = false

    func validate() throws {
        guard file == "-", RemotePath(path).isRoot || isFolderPath else { return }
        throw ValidationError("the standard input has no name; give the path of a file")
    }

    /// Whether the path is written as a folder's.
    private var isFolderPath: Bool { path.hasSuffix("/") }

    func run() async throws {
        let path = RemotePath(path)
        guard let ownName = FilePath(file).lastComponent?.string, file == "-" || access(file, R_OK) == 0 else {
            throw CommandFailure("`\(file)` cannot be read; check its name and permissions")
        }
        var status = stat()
        guard file == "-" || stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure("`\(file)` is a folder or a pipe, and no file; `-` takes what a pipe brings")
        }
        try await connection.run { [json, file, force, isFolderPath] files in
            let (folder, place) = try await Self.place(
                for: path, isFolder: isFolderPath, file == "-" ? nil : ownName, files)
            var name = place.names.last ?? ""
            let old = force ? try Self.replaced(name, in: try await files.list(folder.id)) : nil
            var source = file == "-" ? UploadSource.pieces(StandardInput.bytes) : .file(FilePath(file))
            var spool: SpooledInput?
            if let old {
                if file == "-" {
                    // If this is interrupted before everything is there, nothing is lost.
                    let whole = try await SpooledInput()
                    (spool, source) = (whole, .file(whole.path))
                }
                name = old.name
            }
            defer { withExtendedLifetime(spool) {} }
            let progress = ProgressLine()
            defer { progress.end() }
            let item: Item
            var loss: String?
            do {
                if let old {
                    loss = Self.possibleLoss
                    try await files.delete(old.id)
                    loss = Self.loss
                }
                item = try await files.naming(name, in: folder.id) {
                    $0.isFolder ? "`\(place)` is a folder" : "`\(place)` exists; --force replaces it"
                } _: {
                    try await files.upload(source, named: name, in: folder.id) { progress.show($0, of: $1) }
                }
            } catch let error as FilesError {
                guard let loss, loss == Self.loss || !error.isRefusal else { throw error }
                throw FilesError(error.code, "\(error.message); \(loss)", underlying: error.underlying)
            } catch {
                // An end by a signal prints nothing by itself.
                if let loss { try? Output.error.write("Warning: \(loss)\n") }
                throw error
            }
            progress.end()
            if json { try FilesOutput.json(ListedItem(item: item, change: try await files.changes(of: item).first)) }
        }
    }

    private static let loss = "the file that was there is deleted, so put it again"
    /// The warning if the deletion was sent and no answer came.
    private static let possibleLoss = "the file that was there may be deleted; `uplink files ls` shows whether it is"

    /// The file that is replaced; nil if there is none.
    private static func replaced(_ name: String, in listing: Listing) throws -> Item? {
        let named = listing.items.filter { !$0.isFolder && $0.name == name }
        if let change = named.compactMap(listing.change).first(where: \.makesItem) {
            throw CommandFailure(
                "change \(change.id) is to make a file of this name; `uplink files pending` sends or discards it")
        }
        return listing.item(named: name).flatMap { $0.isFolder ? nil : $0 }
    }

    /// The folder that a file goes into, and its path there.
    ///
    /// - Parameters:
    ///   - isFolder: Whether the path can only be a folder's.
    ///   - ownName: The file's name if the path is a folder's; nil if it has none.
    private static func place(
        for path: RemotePath, isFolder: Bool, _ ownName: String?, _ files: FilesUseCases
    ) async throws -> (folder: Item, path: RemotePath) {
        guard let last = path.names.last else {
            return (try await files.item(at: path), RemotePath(names: [ownName ?? ""]))
        }
        let parent = try await files.folder(at: path.parent)
        if let ownName, let folder = try await files.list(parent.id).item(named: last), folder.isFolder {
            return (folder, RemotePath(names: path.names + [ownName]))
        }
        guard !isFolder else {
            throw CommandFailure(
                "there is no folder `\(path)`; make it with `uplink files mkdir`, or leave out the slash at the end to "
                    + "give the file this name")
        }
        return (parent, path)
    }
}
