// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Uplink

@main
struct Main {
    /// Runs the program on an event loop of its own, because Swift's default pool, once used, wakes up every second.
    static func main() {
        InheritedSignals.remember()
        _ = DownloadTarget.usualPermissions  // while there is one thread
        guard CommandLine.argc > 0 else {  // otherwise `wait` would say that there is a network
            UplinkProgram.exit(
                withError: ValidationError("the arguments cannot be read, because there is no /proc; mount it"))
        }
        if !Program.sharesEnvironment { HelpWidth.ensure() }
        if let number = Program.argumentThatIsNoText {  // which may be a secret
            UplinkProgram.exit(
                withError: ValidationError(
                    "argument \(number) is not in UTF-8, and would become another word; give it in UTF-8"))
        }
        do {
            let loop = try EventLoop()
            Task(executorPreference: loop) {
                await UplinkProgram.run()
                exit(0)
            }
        } catch {
            guard Program.isToRunAnother else { UplinkProgram.exit(withError: error) }
            try? Output.error.write("Error: \(error)\n")
            exit(125)  // any other status would be that of the program to run
        }
        while true { pause() }  // signals wake the main thread, which does not handle them
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
              uplink demo --outage            A download that outlives its network and its server.
              uplink get https://example.org  Fetch a URL as soon as it is possible.
              uplink watch --json             Follow the network's path.
              uplink wait --timeout 30        Wait, in a script or a boot unit.
              uplink run --within 60 -- CMD   Start CMD once the network is there.

            Exit status: 0 done, 1 not done, 64 wrong usage, 130 interrupted with Ctrl-C; `run` has others.
            """,
        version: "1.0.0-beta.1",
        subcommands: [
            DemoCommand.self, GetCommand.self, WatchCommand.self, WaitCommand.self, RunCommand.self, FilesCommand.self,
            StageCommand.self, StageServerCommand.self,
            OutageStageCommand.self, OutageServerCommand.self, OutageFileCommand.self,
        ])

    /// Runs the command named by the arguments, and ends the program if that fails.
    static func run() async {
        do {
            var command = try parseAsRoot()
            do {
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch let error as OutputError where error.isClosed {
                throw ExitCode(1)  // who does not read will not read why
            } catch {
                throw CommandFailure.printable(error)
            }
        } catch {
            guard exitCode(for: error).isSuccess else { complain(error) }
            show(fullMessage(for: error))
        }
    }

    /// Ends the program with an error, whose message may contain words of the command line, and so names of files.
    static func complain(_ error: any Error) -> Never {
        let message = fullMessage(for: error)
        if !message.isEmpty { try? Output.error.write(message.harmless(keepingTabs: true) + "\n") }
        Glibc.exit(exitCode(for: error).rawValue)
    }

    /// Shows the help or the version, and fails if it cannot be written, which ArgumentParser would not notice.
    private static func show(_ text: String) {
        do {
            if !text.isEmpty { try Output.standard.write(text + "\n") }
        } catch let error as OutputError where error.isClosed {
            return
        } catch {
            exit(withError: error)
        }
    }
}
