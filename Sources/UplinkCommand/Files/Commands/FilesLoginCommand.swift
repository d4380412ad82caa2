// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct FilesLoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Try whether a server takes a user and a password, and keep them if asked.",
        usage: "uplink files login [--server <url>] [--user <name>] [--keep] [<options>]",
        discussion: "The password that is kept is not used: it is asked for, or comes from where the options say.")

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Keep server, user and password for the next command, in a file for you alone.")
    var keep = false

    @Flag(help: "Print the user as JSON.")
    var json = false

    func run() async throws {
        try await untilInterrupted {
            let (server, user, password) = try await connection.resolve(usingKept: false)
            let loggedIn = try await withTransport { transport in
                try await RemoteLogIn(over: transport)(server, user: user, password: password)
            }
            if keep {
                try CredentialFile.standard().write(.init(server: server.text, user: user, password: password))
            }
            try json ? FilesOutput.json(UserDocument(user: loggedIn.user)) : FilesOutput.user(loggedIn.user)
        }
    }
}

struct FilesLogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Forget the server, the user and the password that are kept.")

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func run() async throws {
        let wasThere = try CredentialFile.standard().remove()
        if json {
            try FilesOutput.json(["forgotten": wasThere])
        } else {
            try Output.standard.write(wasThere ? "Forgotten.\n" : "Nothing was kept.\n")
        }
    }
}

struct FilesMeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "me", abstract: "Tell who is logged in.")

    @OptionGroup
    var connection: FilesArguments

    @Flag(help: "Print the user as JSON.")
    var json = false

    func run() async throws {
        try await connection.run { [json] files in
            let user = try await files.user()
            try json ? FilesOutput.json(UserDocument(user: user)) : FilesOutput.user(user)
        }
    }
}
