// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink
import UplinkEventLoop

/// The options for the server and the user.
struct FilesArguments: ParsableArguments {
    @Option(help: .init("The server, if not the one that is kept.", valueName: "url"))
    var server: String?

    @Option(help: .init("The user, if not the one that is kept.", valueName: "name"))
    var user: String?

    @OptionGroup
    var password: PasswordArguments

    @Flag(help: "Fail where the server is not reached: read nothing from the store, and let nothing wait.")
    var online = false

    /// The server of the options, checked.
    func serverURL() throws -> FilesServerURL? {
        do throws(FilesError) { return try server.map { text throws(FilesError) in try FilesServerURL(text) } } catch {
            throw ValidationError(CommandFailure.inOptions(error.message))
        }
    }

    func validate() throws {
        _ = try serverURL()
        guard let user else { return }
        if user.isEmpty { throw ValidationError("--user needs a name") }
        if user.contains(":") { throw ValidationError("a user's name cannot hold a colon; check --user") }
    }

    /// The server and the user, from the options and the credentials file, and that file's password if it has one for
    /// this server and this user.
    ///
    /// - Parameter needsPassword: Whether the file is read even if the options say which server and which user.
    func whom(needsPassword: Bool) throws -> (server: FilesServerURL, user: String, keptPassword: String?) {
        let given = try serverURL()
        let needsFile = needsPassword || given == nil || user == nil
        let kept: CredentialFile.Entry? =
            if needsFile, let file = try? CredentialFile.standard() { try file.read() } else { nil }
        guard let server = try given ?? kept.map({ try FilesServerURL($0.server) }) else {
            throw CommandFailure(
                "no server is known; give --server, or `uplink files login --server URL --user NAME --keep` first")
        }
        let matching = kept.flatMap { $0.server == server.text ? $0 : nil }
        guard let user = user ?? matching?.user else {
            throw CommandFailure("no user is known for this server; give --user")
        }
        return (server, user, matching.flatMap { $0.user == user ? $0.password : nil })
    }

    /// The server and the credentials, from the options, the credentials file, and a prompt, in this order.
    ///
    /// - Parameter usingKept: Whether the stored password may be used.
    func resolve(
        usingKept: Bool = true
    ) async throws -> (server: FilesServerURL, user: String, password: String) {
        let needsPassword = usingKept && !password.isGiven
        let (server, user, kept) = try whom(needsPassword: needsPassword)
        if let kept, needsPassword { return (server, user, kept) }
        return (server, user, try await password.read(for: "\(user) at \(server.text)"))
    }

    /// - Throws: `ValidationError` with the option that does not apply to a command about stored data.
    func refuseOnline() throws {
        if online { throw ValidationError("--online makes no sense here") }
    }

    /// Runs `body` with the use cases of this user, after sending pending changes. A signal cancels it.
    func run(_ body: @escaping @Sendable (FilesUseCases) async throws -> Void) async throws {
        try await untilInterrupted {
            try await asUser { server, credentials, transport in
                if online { return try await body(.remote(server, as: credentials, over: transport)) }
                let notes = OfflineNotes()
                defer { notes.end() }
                let files = try await FilesUseCases.offlineIfPossible(
                    server, as: credentials, over: transport, telling: notes.tell
                ) { try? Output.error.write("\($0)\n") }
                try await Self.sendFirst(files)
                try await body(files)
            }
        }
    }

    /// Runs `body` with the use cases for pending changes of this user, without sending any first. A signal cancels it.
    func runToSend(_ body: @escaping @Sendable (PendingUseCases) async throws -> Void) async throws {
        try await untilInterrupted {
            try Self.checkKeeping()
            try await asUser { server, credentials, transport in
                let notes = OfflineNotes()
                try await body(
                    FilesUseCases.offline(server, as: credentials, over: transport, telling: notes.tell).pending)
            }
        }
    }

    /// Runs `body` with the changes pending on this host, which needs neither a password nor the server. A signal
    /// cancels it.
    func runOnThisHost(_ body: @escaping @Sendable (PendingUseCases) async throws -> Void) async throws {
        try await untilInterrupted {
            try Self.checkKeeping()
            let (server, user, _) = try whom(needsPassword: false)
            try await body(PendingUseCases.onThisHost(server, user: user))
        }
    }

    private static func checkKeeping() throws {
        guard FilesUseCases.keepsFiles else {
            throw CommandFailure("this build of uplink keeps nothing; build it with the trait Store")
        }
    }

    private func asUser(
        _ body: @Sendable (FilesServerURL, Credentials, any HTTPTransport) async throws -> Void
    ) async throws {
        let (server, user, password) = try await resolve()
        let credentials = try Credentials(user: user, password: password)
        try await withTransport { try await body(server, credentials, $0) }
    }

    /// Sends pending changes as far as possible, so that a command shows the server with them applied.
    private static func sendFirst(_ files: FilesUseCases) async throws {
        do {
            let waiting = try await files.pending.list().count { !$0.isConflict }
            guard waiting > 0 else { return }
            if Output.error.isTerminal {
                try? Output.error.write("Sending what waits first (\(waiting)); Ctrl-C leaves it for later.\n")
            }
            let problem = try await files.pending.send(within: .zero).problem
            if let problem { try? Output.error.write("Warning: \(FilesOutput.printable("\(problem)"))\n") }
        } catch let error as FilesError {
            guard error.code != .busy else { return }
            try? Output.error.write("Nothing was sent: \(FilesOutput.printable("\(error)"))\n")
        }
    }
}

/// Runs `body` with a transport, and leaves nothing of the transport behind when it returns.
func withTransport<Value: Sendable>(
    _ body: @Sendable (any HTTPTransport) async throws -> Value
) async throws -> Value {
    let transport = try CurlTransport(on: .shared)
    do {
        let value = try await body(transport)
        await transport.shutdown(.cancelling)
        return value
    } catch {
        await transport.shutdown(.cancelling)
        throw error
    }
}
