// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the network is there.",
        discussion: """
              uplink wait                                  For as long as it takes.
              uplink wait --timeout 0 && echo online       A look, without waiting.
              uplink wait --for ipv6 --timeout 30
              uplink wait --for interface:wg0,stable:5
              uplink wait --for destination:10.1.2.3       Packets to this address have a way.
              uplink wait --poll 2                         Without netlink, in a sandbox.

            \(RequirementArgument.help)

            Exit status: 0 when it is there, 1 when it did not come in time.
            """)

    @Option(
        name: .customLong("for"), help: .init("What is needed of the network.", valueName: "requirement"),
        transform: RequirementArgument.parse)
    var requirement = RequirementArgument.internet

    @Option(
        help: .init("How many seconds to wait at most; for ever when not given.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var timeout = Double.infinity
    @OptionGroup
    var polling: PollArguments

    func run() async throws {
        let outcome = try await NetworkWait.wait(for: requirement, seconds: timeout, polling)
        if case .failure(let error) = outcome { throw CommandFailure(CommandFailure.inOptions("\(error)")) }
    }
}
