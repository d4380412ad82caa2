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

    /// Runs `body` with what can be done as this user. A signal cancels it.
    func run(_ body: @escaping @Sendable (FilesUseCases) async throws -> Void) async throws {
        try await untilInterrupted {
            let (server, user, password) = try await resolve()
            let credentials = try Credentials(user: user, password: password)
            try await withTransport { try await body(.remote(server, as: credentials, over: $0)) }
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
