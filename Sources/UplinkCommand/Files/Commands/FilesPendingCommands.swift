// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct FilesPendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List what was changed without the server and is still to be sent.",
        usage: "uplink files pending [--retry <number> | --discard <number>] [<options>]",
        discussion: """
            A change waits until the server can be reached, or is in conflict: the server will not have it, because the \
            name is taken or the folder is gone. What is in conflict stays until it is tried again or discarded.
            """)

    @Option(help: .init("Have a change that is in conflict wait again.", valueName: "number"))
    var retry: PendingChange.ID?

    @Option(help: .init("Give a change up, with the copy of what was to be uploaded.", valueName: "number"))
    var discard: PendingChange.ID?

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print an array of changes as JSON.")
    var json = false

    func validate() throws {
        guard retry == nil || discard == nil else { throw ValidationError("--retry and --discard exclude each other") }
        try connection.refuseOnline()
    }

    func run() async throws {
        try await connection.runOnThisHost { [retry, discard, json] pending in
            if let retry { try await pending.retry(retry) }
            if let discard { try await pending.discard(discard) }
            let changes = try await pending.list()
            try json
                ? FilesOutput.json(changes.map(PendingDocument.init))
                : Output.standard.write(FilesOutput.lines(changes))
        }
    }
}

struct FilesSyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Send what was changed without the server.",
        usage: "uplink files sync [--within <seconds>] [<options>]",
        discussion: """
            What is in conflict is not sent again; `uplink files pending` lists it.

            Exit status: 0 when nothing is left to be sent, 1 otherwise.
            """)

    @Option(
        help: .init("How many seconds to wait for the server, if need be.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var within = 0.0

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print what was sent and what is left as JSON.")
    var json = false

    func validate() throws { try connection.refuseOnline() }

    func run() async throws {
        try await connection.runToSend { [within, json] pending in
            let outcome = try await pending.send(within: .saturating(seconds: within))
            if json {
                try FilesOutput.json([
                    "sent": outcome.sent.map(PendingDocument.init), "left": outcome.left.map(PendingDocument.init),
                ])
            } else {
                try Output.standard.write(FilesOutput.lines(outcome.left))
            }
            if let problem = outcome.problem { throw CommandFailure(problem) }
            if !outcome.left.isEmpty { throw ExitCode(1) }
        }
    }
}
