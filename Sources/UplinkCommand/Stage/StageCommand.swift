// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// The demo's inner half, which runs in a namespace created for it.
struct StageCommand: AsyncParsableCommand {
    static let name = "demo-stage"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "The demo, inside its namespace.", shouldDisplay: false)

    @Option var scenario: Scenario

    func run() async throws {
        let stage = try await EventLoop.shared.offLoop { [scenario] in
            try Stage(server: [StageServerCommand.name, "--scenario", scenario.rawValue])
        }
        let arrival = scenario.arrival
        if arrival == .zero { try await stage.connect() }
        let url = try URLArgument.parse("http://\(Stage.serverAddress)/picture.png")
        try await Demo(url: url).run {
            guard let arrival, arrival > .zero else { return }
            try await Task.sleep(for: arrival)
            try await stage.connect()
        }
        withExtendedLifetime(stage) {}
    }
}

/// The demo's server, which runs in a namespace beside it until its input ends.
struct StageServerCommand: AsyncParsableCommand {
    static let name = "demo-server"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "The demo's server, inside its namespace.", shouldDisplay: false)

    @Option var scenario: Scenario

    func run() async throws {
        try Output.standard.write("here\n")
        var lines = StandardInput.lines.makeAsyncIterator()
        guard await lines.next() == "go" else { return }
        try await EventLoop.shared.offLoop { try Stage.configureServer() }
        try await PictureServer.withServer(address: Stage.serverAddress, port: 80, scenario: scenario) { _ in
            try Output.standard.write("ready\n")
            while await lines.next() != nil {}
        }
    }
}
