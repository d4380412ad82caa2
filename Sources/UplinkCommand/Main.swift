// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

@main
struct Main {
    static func main() async {
        InheritedSignals.remember()
        await UplinkProgram.main()
    }
}

/// The program `uplink`.
struct UplinkProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uplink",
        abstract: "Do things when the network is there.",
        discussion: """
            Uplink asks the kernel whether the network is there, and starts what you want once it is.

              uplink demo                     A picture that arrives with the network.
              uplink get https://example.org  Fetch a URL as soon as it is possible.
              uplink watch --json             Follow the network's path.
              uplink wait --timeout 30        Wait, in a script or a boot unit.
              uplink run --within 60 -- CMD   Start CMD once the network is there.

            Exit status: 0 done, 1 not done, 64 wrong usage, 130 interrupted with Ctrl-C.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, GetCommand.self, WatchCommand.self, WaitCommand.self, RunCommand.self,
            StageCommand.self, StageServerCommand.self,
        ])
}
