// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// The inner half of `uplink demo --outage`, which runs in a namespace created for it.
struct OutageStageCommand: AsyncParsableCommand {
    static let name = "outage-stage"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "The outage demo, inside its namespace.", shouldDisplay: false)
    /// A directory that every system has; the demo mounts its own over it.
    private static let directory = "/mnt"

    @Option var megabytes: Int
    @Option var pause: Double

    func run() async throws {
        let script = OutageScript(megabytes: megabytes, pause: pause)
        let stage = try await EventLoop.shared.offLoop {
            try Stage.mountMemory(at: Self.directory)
            return try Stage(server: [
                OutageServerCommand.name, "--megabytes", "\(script.megabytes)", "--limit",
                "\(script.limit(afterOutages: 0))",
            ])
        }
        try await stage.connect()
        let url = "http://\(Stage.serverAddress)\(OutageFileServer.path)"
        try await untilInterrupted {
            try await OutageDemo(script: script, url: url, directory: Self.directory) { try await stage.order($0) }
                .run()
        }
        withExtendedLifetime(stage) {}
    }
}
