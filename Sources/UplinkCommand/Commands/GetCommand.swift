// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SystemPackage
import Uplink

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch from a URL, or send to it, once the network is there.",
        discussion: """
              uplink get https://example.org/ | less
              uplink get https://example.org/film.webm -o film.webm --within 600
              uplink get http://localhost:8080/state
              uplink get https://example.org/notes --json '{"text":"hello"}'
              uplink get https://example.org/files/film.webm --upload film.webm -u me:secret

            Options are called as those of curl(1) where both have them. Redirects are followed. A file stands under its name only when it is whole. What a host needs of the network is derived from the \
            URL: nothing for this host itself, the local network for private addresses, the internet for all others; \
            --for says otherwise.

            \(RequirementArgument.help)

            Exit status: 0 when all of it arrived, 1 when not, also for an answer such as 404.
            """)

    @Argument(help: "An http or https URL.", transform: URLArgument.parse)
    var url: URLArgument

    @Option(
        name: .shortAndLong,
        help: .init("The file to write; without it, or with `-`, the standard output.", valueName: "file"))
    var output: String?

    @Option(
        help: .init("How many seconds to wait for the network at most.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var within = 30.0

    @Option(
        name: .customLong("for"), help: .init("What is needed of the network.", valueName: "requirement"),
        transform: RequirementArgument.parse)
    var requirement: RequirementArgument?

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @Flag(name: .shortAndLong, help: "Tell on the standard error what is sent and received, and how long it takes.")
    var verbose = false

    @OptionGroup(title: "Request")
    var request: RequestArguments

    @OptionGroup(title: "Connection")
    var connection: ConnectionArguments

    func validate() throws {
        if let output, output.isEmpty { throw ValidationError("--output needs the name of a file") }
        if force, output == nil { throw ValidationError("--force belongs to --output") }
    }

    func run() async throws {
        var client = HTTPClient.Configuration()
        client.timeouts = connection.timeouts
        if let (user, password) = try request.credentials() {
            client.middlewares = [try HTTPBasicAuthentication(for: [url.origin], user: user, password: password)]
        }
        let download = Download(
            request: try request.request(to: url.text), body: try request.body(), client: client,
            transport: try connection.transport(), retries: connection.retries,
            target: try DownloadTarget(output, replacingExisting: force), printsHead: request.head || request.include,
            isVerbose: verbose,
            requirement: requirement?.whole ?? (connection.unixSocket == nil ? url.requirement : nil),
            monitor: try requirement?.monitor() ?? .shared, seconds: within)
        try await untilInterrupted { try await download.run() }
    }
}
