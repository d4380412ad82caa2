// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

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
            try await files.read(item.id, of: item.size, progress: nil) { bytes in
                do {
                    try bytes.withUnsafeBytes { try Output.standard.write($0) }
                } catch let error as OutputError where error.isClosed {
                    throw ExitCode(1)  // the reader has seen enough; no message is wanted
                }
            }
        }
    }
}
