// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SystemPackage
import UplinkCore
import UplinkEventLoop

struct FilesServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Be a file server: for trying things out.",
        usage: "uplink files serve [<folder>] [--port <port>] [--user <name>] [<options>]",
        discussion: """
            Serves a folder, in which uploads and deletions are real, or without one an empty store in memory. Links in \
            the folder are not followed, and what others change in it meanwhile is not seen. The server speaks plain HTTP, \
            and is to be reached from this host alone unless --address says otherwise.

            The first line that is printed is the server's URL. Without a password of yours, the second tells \
            the user and a password that was made up.

            Exit status: 1 when it cannot listen, 130 when it ends by Ctrl-C.
            """)

    @Argument(help: "The folder to serve; without it, memory.")
    var folder: String?

    @Option(
        help: .init("The IPv4 or IPv6 address to listen on, or `localhost`.", valueName: "address"),
        transform: Self.address)
    var address = "127.0.0.1"

    @Option(help: .init("The port to listen on; 0 for any that is free.", valueName: "port"))
    var port: UInt16 = 0

    @Option(help: .init("Who may log in.", valueName: "name"))
    var user = "demo"

    @OptionGroup
    var password: PasswordArguments

    @Option(help: .init("Answer one request in so many with 503.", valueName: "number"))
    var fail: Int?

    @Option(help: .init("Close the connection of one request in so many without an answer.", valueName: "number"))
    var drop: Int?

    @Option(
        help: .init("How many seconds each answer takes.", valueName: "seconds"), transform: SecondsArgument.parse)
    var slow = 0.0

    func validate() throws {
        guard fail ?? 1 > 0, drop ?? 1 > 0 else { throw ValidationError("--fail and --drop take a number from 1") }
        guard !user.isEmpty, !user.contains(":") else { throw ValidationError("--user needs a name without a colon") }
    }

    func run() async throws {
        try await untilInterrupted {
            let files = if let folder { try await Self.files(in: FilePath(folder)) } else { ServedFiles() }
            let secret = password.isGiven ? try await password.read(for: user) : Self.madeUpPassword()
            let faults = Faults(failEvery: fail, dropEvery: drop, delay: .saturating(seconds: slow))
            let service = FilesService(
                files, for: try Credentials(user: user, password: secret), faults: faults)
            try await FilesServer.serve(service, address: address, port: port) { url in
                if files.skipped > 0 {
                    let what = files.skipped == 1 ? "1 file or folder is" : "\(files.skipped) files or folders are"
                    try? Output.error.write("\(what) not served.\n")
                }
                try Output.standard.write("\(url)\n" + (password.isGiven ? "" : "\(user), password \(secret)\n"))
            }
        }
    }

    /// Reads a folder off the loop, which has to notice signals meanwhile.
    private static func files(in folder: FilePath) async throws -> ServedFiles {
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await EventLoop.shared.besideLoop {
                try ServedFiles(folder: folder) { isCancelled.withLock(\.self) }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// An address in the form that the server takes.
    private static func address(_ text: String) throws -> String {
        if text == "localhost" { return "127.0.0.1" }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        guard IPAddress(bare) != nil else { throw ValidationError("give an IPv4 or IPv6 address") }
        return bare
    }

    private static func madeUpPassword() -> String {
        var generator = SystemRandomNumberGenerator()
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String((0..<16).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
    }
}
