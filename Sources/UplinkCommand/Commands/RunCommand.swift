// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Uplink

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Start a program once the network is there.",
        discussion: """
            The program takes this one's place: the same process, terminal, environment and signals.

              uplink run --within 60 -- rsync -a photos/ backup:photos/
              uplink run --within 0 -- git fetch     Only if it is there now.
              uplink run --within inf --for unmetered -- apt-get -y dist-upgrade

            \(RequirementArgument.help)

            Exit status: that of the program; 124 when the network did not come in time and nothing was started, 125 \
            when the network cannot be watched, 126 when the program cannot be executed, 127 when there is none of \
            that name, and 128 plus its number when a signal came first.
            """)

    @Option(
        help: .init("How many seconds to wait for the network at most.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var within: Double

    @Option(
        name: .customLong("for"), help: .init("What is needed of the network.", valueName: "requirement"),
        transform: RequirementArgument.parse)
    var requirement = RequirementArgument.internet

    @OptionGroup
    var polling: PollArguments
    @Argument(parsing: .postTerminator, help: "The program and its arguments, after `--`.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("give the program to start after `--`") }
    }

    func run() async throws {
        switch try await waitForNetwork() {
        case .success:
            try await endIfInterrupted()
            throw execute()
        case .failure(let error):
            complain(CommandFailure.inOptions("\(error)"))
            throw ExitCode(error.code == .timedOut ? 124 : 125)
        }
    }

    /// Waits for the network. Other errors, such as a lack of descriptors, must not look like an exit status of the
    /// program either.
    private func waitForNetwork() async throws -> Result<Void, NetworkOperationError> {
        do {
            return try await NetworkWait.wait(for: requirement, seconds: within, polling)
        } catch let code as ExitCode {
            throw code
        } catch {
            complain(CommandFailure.inOptions("\(error)"))
            throw ExitCode(125)
        }
    }

    /// A signal that came with the network must not be lost: whoever sent it wants the program to end, not to begin.
    private func endIfInterrupted() async throws {
        do {
            try await Signals.giveBack()
        } catch {
            complain("\(error)")
            throw ExitCode(125)
        }
        if let signal = Interruption.first { throw ExitCode(128 + signal) }
    }

    /// Becomes the program, or reports why that failed.
    private func execute() -> ExitCode {
        InheritedSignals.restore()
        let error = Program.becomeWhatFollowsTerminator()
        complain("`\(command[0])` cannot be started: \(String(cString: strerror(error)))")
        return ExitCode(error == ENOENT ? 127 : 126)
    }

    private func complain(_ message: String) {
        try? Output.error.write("Error: \(message.harmless())\n")  // without a standard error, no one wants to know
    }
}
