// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SystemPackage
import Uplink

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch a URL, once the network is there.",
        discussion: """
              uplink get https://example.org/ | less
              uplink get https://example.org/film.webm -o film.webm --within 600
              uplink get http://localhost:8080/state

            A file stands under its name only when it is whole. What a host needs of the network is derived from the \
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

    func validate() throws {
        if let output, output.isEmpty { throw ValidationError("--output needs the name of a file") }
        if force, output == nil { throw ValidationError("--force belongs to --output") }
    }

    func run() async throws {
        let target = try DownloadTarget(output, replacingExisting: force)
        let download = Download(
            url: url.text, target: target, requirement: requirement?.whole ?? url.requirement,
            monitor: try requirement?.monitor() ?? .shared, seconds: within)
        try await untilInterrupted { try await download.run() }
    }
}
