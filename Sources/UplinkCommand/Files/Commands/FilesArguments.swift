// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink
import UplinkEventLoop

/// Which server, and as whom.
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
            throw ValidationError(error.message)
        }
    }

    func validate() throws {
        _ = try serverURL()
        guard let user else { return }
        if user.isEmpty { throw ValidationError("--user needs a name") }
        if user.contains(":") { throw ValidationError("a user's name cannot hold a colon; check --user") }
    }

    /// Server and credentials, from the options, the file that keeps them, and a prompt, in this order.
    ///
    /// A password that is kept is for its server and its user alone.
    func resolve() async throws -> (server: FilesServerURL, user: String, password: String) {
        let given = try serverURL()
        let kept: CredentialFile.Entry? =
            if let file = try? CredentialFile.standard() { try file.read() } else { nil }
        guard let server = try given ?? kept.map({ try FilesServerURL($0.server) }) else {
            throw CommandFailure(
                "no server is known; give --server, or `uplink files login --server URL --user NAME --keep` first")
        }
        let matching = kept.flatMap { $0.server == server.text ? $0 : nil }
        guard let user = user ?? matching?.user else {
            throw CommandFailure("no user is known for this server; give --user")
        }
        if let matching, matching.user == user, !password.isGiven { return (server, user, matching.password) }
        return (server, user, try await password.read(for: "\(user) at \(server.text)"))
    }

    /// How a command uses what is kept on this host.
    enum Keeping: Sendable {
        /// As far as there is something, and what waits is sent first.
        case asPossible
        /// The command is about what is kept.
        case withStore
    }

    /// - Throws: `ValidationError` with the option that makes no sense for a command that is about what is kept.
    func refuseOnline() throws {
        if online { throw ValidationError("--online makes no sense here") }
    }

    /// Runs `body` with what can be done as this user. A signal cancels it.
    func run(
        _ keeping: Keeping = .asPossible, _ body: @escaping @Sendable (FilesUseCases) async throws -> Void
    ) async throws {
        try await untilInterrupted {
            let (server, user, password) = try await resolve()
            let credentials = try Credentials(user: user, password: password)
            try await withTransport { transport in
                if online { return try await body(.remote(server, as: credentials, over: transport)) }
                let notes = OfflineNotes()
                defer { notes.end() }
                switch keeping {
                case .asPossible:
                    let files = try await FilesUseCases.offlineIfPossible(
                        server, as: credentials, over: transport, telling: notes.tell
                    ) { try? Output.error.write("\($0)\n") }
                    try await Self.sendFirst(files)
                    try await body(files)
                case .withStore:
                    guard FilesUseCases.keepsFiles else {
                        throw CommandFailure("this build of uplink keeps nothing; build it with the trait Store")
                    }
                    try await body(.offline(server, as: credentials, over: transport, telling: notes.tell))
                }
            }
        }
    }

    /// Sends what waits, as far as it goes: a command shows the server as it is with it.
    private static func sendFirst(_ files: FilesUseCases) async throws {
        do {
            let waiting = try await files.pending.list().count { !$0.isConflict }
            guard waiting > 0 else { return }
            if Output.error.isTerminal {
                try? Output.error.write("Sending what waits first (\(waiting)); Ctrl-C leaves it for later.\n")
            }
            _ = try await files.pending.send(within: .zero)
        } catch let error as FilesError {
            if error.code != .busy { try? Output.error.write("Nothing was sent: \(error)\n") }
        }
    }
}

/// Runs `body` with a transport of which nothing is left when this returns.
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
