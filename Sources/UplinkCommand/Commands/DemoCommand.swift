// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show a picture that arrives with the network.",
        usage: """
            uplink demo [<url>] [--scenario <scenario>]
            uplink demo --outage [--size <megabytes>] [--pause <seconds>]
            """,
        discussion: """
            Two screens: a spinner while the picture is loaded, then the picture, or what went wrong. After half a \
            second without a network the first screen says so; after two seconds in all there is a result.

              uplink demo
              uplink demo --scenario offline
              uplink demo https://example.org/picture.png
              uplink demo --outage

            With --outage, a download of 200 MB: the cable is pulled twice and the server is killed once, and it goes \
            on from where it was each time.

            Without a URL the demo brings its own server and its own network, in network namespaces of the kernel \
            that are gone when it ends. Your network is not touched.

            Scenarios:

            \(Scenario.allCases.map { "  \($0.rawValue.padded(to: 9))\($0.meaning)" }
                .joined(separator: "\n"))

            Exit status: 0 when the picture was shown, or the download was whole and right, 1 when not.
            """)

    /// Not parsed by ArgumentParser, whose message would show a password in it.
    @Argument(help: .init("A picture's URL, loaded over this host's network.", valueName: "url"))
    var urlText: String?

    @Option(help: "What happens on the demo's own network (default: late).")
    var scenario: Scenario?

    @Flag(help: "Show a download that outlives the loss of its network and of its server.")
    var outage = false

    @Option(help: .init("How large its file is (default: 200).", valueName: "megabytes"))
    var size: Int?

    @Option(
        help: .init("How long each outage lasts (default: 2).", valueName: "seconds"), transform: SecondsArgument.parse)
    var pause: Double?

    /// The URL, checked.
    private var url: URLArgument? { get throws { try urlText.map(URLArgument.parse) } }

    func validate() throws {
        let url = try url
        if outage, url != nil || scenario != nil {
            throw ValidationError("--outage has a network and a server of its own; leave out the URL and --scenario")
        }
        if !outage, size != nil || pause != nil { throw ValidationError("--size and --pause belong to --outage") }
        guard size.map((1...2000).contains) ?? true else { throw ValidationError("--size takes 1 to 2000 (megabytes)") }
        guard pause.map({ $0 <= 60 }) ?? true else { throw ValidationError("--pause takes 60 seconds at most") }
        if url != nil, scenario != nil {
            throw ValidationError("--scenario is about the demo's own network; leave out either it or the URL")
        }
    }

    func run() async throws {
        if let url = try url { return try await Demo(url: url).run() }
        let words =
            outage
            ? OutageScript(megabytes: size ?? 200, pause: pause ?? 2).words
            : [StageCommand.name, "--scenario", (scenario ?? .late).rawValue]
        switch Stage.permission() {
        case .permitted(let enter): try Stage.become(in: enter, words)
        case .refused(let reason) where outage:
            throw CommandFailure("an outage needs a network of the demo's own, which is not possible here (\(reason))")
        case .refused(let reason): try await onHostNetwork(because: reason)
        }
    }

    /// The fallback: the network of this host, which cannot be taken away.
    private func onHostNetwork(because reason: String) async throws {
        let scenario = scenario == .slow ? Scenario.slow : .online
        try Output.error.write(
            "A network of the demo's own is not possible here (\(reason)).\n"
                + "It runs on this host's network, where the network is always there: scenario `\(scenario.rawValue)`.\n"
        )
        try await PictureServer.withServer(address: "127.0.0.1", scenario: scenario) { port in
            try await Demo(url: URLArgument.parse("http://127.0.0.1:\(port)/picture.png")).run()
        }
    }
}
