// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import SystemPackage

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
        let ownName = try Self.name(of: file)
        try await connection.run { [json, file, force, isFolderPath] files in
            let (folder, place) = try await Self.place(for: path, isFolder: isFolderPath, ownName, files)
            let wanted = place.names.last ?? ""
            let old = force ? try Self.replaced(wanted, in: try await files.list(folder.id)) : nil
            let name = old?.name ?? wanted
            // If the standard input is interrupted before everything is there, the file that was there is not lost.
            let spool = file == "-" && old != nil ? try await SpooledInput() : nil
            defer { withExtendedLifetime(spool) {} }
            let source = Self.source(file, spool)
            let progress = ProgressLine()
            defer { progress.end() }
            let item = try await Self.replacing(old, files) {
                try await files.naming(name, in: folder.id) {
                    $0.isFolder ? "`\(place)` is a folder" : "`\(place)` exists; --force replaces it"
                } _: {
                    try await files.upload(source, named: name, in: folder.id) { progress.show($0, of: $1) }
                }
            }
            progress.end()
            if json { try FilesOutput.json(ListedItem(item: item, change: try await files.changes(of: item).first)) }
        }
    }

    /// The name of a file that can be uploaded; nil for the standard input, which has none.
    private static func name(of file: String) throws(CommandFailure) -> String? {
        guard file != "-" else { return nil }
        guard let name = FilePath(file).lastComponent?.string, access(file, R_OK) == 0 else {
            throw CommandFailure("`\(file)` cannot be read; check its name and permissions")
        }
        var status = stat()
        guard stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure("`\(file)` is a folder or a pipe, and no file; `-` takes what a pipe brings")
        }
        return name
    }

    private static func source(_ file: String, _ spool: SpooledInput?) -> UploadSource {
        if let spool { return .file(spool.path) }
        return file == "-" ? .pieces(StandardInput.bytes) : .file(FilePath(file))
    }

    /// What has become of the file that is replaced, when replacing it fails.
    private enum Loss: String {
        /// The deletion was sent, and no answer came.
        case possible = "the file that was there may be deleted; `uplink files ls` shows whether it is"
        case certain = "the file that was there is deleted, or waits to be (`uplink files pending`), so put it again"
    }

    /// Uploads a file, after the one that it replaces has been deleted. If that fails, says what is lost: nothing, if
    /// all of it was to wait for the server.
    private static func replacing(
        _ old: Item?, _ files: FilesUseCases, _ upload: () async throws -> Item
    ) async throws -> Item {
        guard let old else { return try await upload() }
        var loss = Loss.possible
        do {
            try await files.delete(old.id)
            loss = .certain
            return try await upload()
        } catch {
            if loss == .certain, await hasGivenUp(deletionOf: old, files) { throw error }
            guard let error = error as? FilesError else {
                // An end by a signal prints nothing by itself.
                try? Output.error.write("Warning: \(loss.rawValue)\n")
                throw error
            }
            guard loss == .certain || !error.isRefusal else { throw error }
            throw FilesError(error.code, "\(error.message); \(loss.rawValue)", underlying: error.underlying)
        }
    }

    /// Gives up a deletion that only waits for the server, because nothing will replace the file; false if there is
    /// none. Also in a cancelled task.
    private static func hasGivenUp(deletionOf item: Item, _ files: FilesUseCases) async -> Bool {
        let work = Task {
            guard let waiting = try await files.changes(of: item).first(where: { !$0.makesItem }) else { return false }
            try await files.pending.discard(waiting.id)
            return true
        }
        return (try? await work.value) ?? false
    }

    /// The file that is replaced; nil if there is none.
    private static func replaced(_ name: String, in listing: Listing) throws -> Item? {
        let named = listing.items.filter { !$0.isFolder && $0.name == name }
        if let change = named.compactMap(listing.change).first(where: \.makesItem) {
            throw CommandFailure(
                "change \(change.id) is to make a file of this name; `uplink files sync` sends it, `pending` discards it"
            )
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
