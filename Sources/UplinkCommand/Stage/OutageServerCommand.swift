// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink
import UplinkCore

/// The server's side of `uplink demo --outage`, in a namespace of its own: it holds the cable and the server's process,
/// and obeys orders until its input ends.
struct OutageServerCommand: AsyncParsableCommand {
    static let name = "outage-server"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "The outage demo's server and cable.", shouldDisplay: false)

    @Option var megabytes: Int
    @Option var limit: Int

    func run() async throws {
        try Output.standard.write("here\n")
        var lines = StandardInput.lines.makeAsyncIterator()
        guard await lines.next() == "go" else { return }
        try await EventLoop.shared.offLoop { try Stage.configureServer() }
        var limit = limit
        var server = try await start(limit)
        try Output.standard.write("ready\n")
        while let line = await lines.next() {
            switch line {
            case "cable out": try await EventLoop.shared.offLoop { try Stage.setCable(isIn: false) }
            case "cable in": try await EventLoop.shared.offLoop { try Stage.setCable(isIn: true) }
            case "kill": try await EventLoop.shared.offLoop { [server] in server.kill() }
            case "start": server = try await start(limit)
            default:  // how far the server goes from now on
                limit = Int(line) ?? limit
                try? server.write("\(limit)\n")  // a killed server does not need it; the next one starts with it
            }
            try Output.standard.write("done\n")
        }
    }

    private func start(_ limit: Int) async throws -> ChildProcess {
        try await EventLoop.shared.offLoop { [megabytes] in
            guard let own = Program.own else { throw CommandFailure("/proc is not mounted; mount it") }
            let server = try ChildProcess(
                [own, OutageFileCommand.name, "--megabytes", "\(megabytes)", "--limit", "\(limit)"])
            guard server.says("ready") else { throw CommandFailure("the demo's server did not start") }
            return server
        }
    }
}

/// The server's process, which is killed and started again.
struct OutageFileCommand: AsyncParsableCommand {
    static let name = "outage-file"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "The outage demo's HTTP server.", shouldDisplay: false)

    @Option var megabytes: Int
    @Option var limit: Int

    func run() async throws {
        let server = OutageFileServer(
            file: OutageFile(byteCount: megabytes * 1_000_000), limit: Locked(limit))
        try await server.withServer(address: Stage.serverAddress, port: 80) {
            try Output.standard.write("ready\n")
            for await line in StandardInput.lines {
                if let limit = Int(line) { server.limit.withLock { $0 = limit } }
            }
        }
    }
}
