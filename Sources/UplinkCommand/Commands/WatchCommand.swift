// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow the network's path: one line now, and one for every change.",
        usage: "uplink watch [<options>]",
        discussion: """
            The kernel is asked for the way to the internet; nothing is sent there, unless --validate is given.

              uplink watch
              uplink watch --json | jq .status
              uplink watch --count 1                      The path as it is now.
              uplink watch --destination 10.1.2.3         The way to one address.
              uplink watch --family 6                     IPv6 alone.
              uplink watch --validate http://connectivitycheck.gstatic.com/generate_204
              uplink watch --poll 10                      Without netlink, in a sandbox.

            For people, the first line is the path and each further one says what changed, in colour on a terminal \
            unless NO_COLOR is set. With --json every line is an object with all that is known of the path, and is \
            written at once.

            Exit status: 0 after --count paths or when nobody reads any more, 1 when the network cannot be watched, \
            130 when interrupted.
            """)

    @Flag(help: "Write one JSON object per line.")
    var json = false

    @Option(help: "End after so many paths.")
    var count: Int?

    @Option(
        help: .init("Follow the way to this address instead of the internet.", valueName: "address"))
    var destination: String?

    @Option(
        help: .init("Follow one address family alone: 4 or 6.", valueName: "family"), transform: FamilyArgument.parse)
    var family: IPAddress.Family?

    @Option(
        name: .customLong("validate"),
        help: .init(
            "Find out whether the internet answers: a URL that gives 204, or tcp://HOST:PORT.", valueName: "url"))
    var probeURL: String?

    @Option(
        help: .init("Tell a loss only when it has lasted so many seconds.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var settle = 0.0

    @OptionGroup
    var polling: PollArguments

    @Flag(help: "Write statistics to the standard error at the end, and whenever SIGUSR1 comes.")
    var statistics = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        if destination != nil, probeURL != nil {
            throw ValidationError("--validate is about the internet; leave it or --destination out")
        }
        // An address has one family, and its path has no way over the other one.
        if let family, let address = destination.flatMap({ IPAddress($0) }), address.family != family {
            throw ValidationError("--destination is no address of --family's; leave one of them out")
        }
        guard settle <= 300 else { throw ValidationError("--settle takes 300 seconds at most") }
        _ = try makeMonitor()
    }

    func run() async throws {
        let monitor = try makeMonitor()
        let following = PathFollowing(
            monitor: monitor, output: .standard, isJSON: json, family: family, count: count ?? .max)
        let report = statistics ? StatisticsReport(monitor: monitor, isJSON: json) : nil
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await untilInterrupted {
                    try await withThrowingTaskGroup { group in
                        group.addTask { try await following.run() }
                        group.addTask { for await _ in following.output.readerLeft { return } }
                        if let report { group.addTask { try await report.followSignals() } }
                        try await group.next()
                        group.cancelAll()
                    }
                })
        } catch {
            outcome = .failure(error)
        }
        await report?.write()
        do { try outcome.get() } catch let error as NetworkMonitorError {
            throw CommandFailure(CommandFailure.inOptions("\(error)"))
        }
    }

    private func makeMonitor() throws -> LinuxNetworkMonitor {
        let probe = try probeURL.map(ProbeArgument.parse)
        do {
            let monitor = LinuxNetworkMonitor(
                on: .shared, configuration: try polling.configuration(settle: settle),
                validator: probe.map { PathValidator($0.probe) })
            return try destination.map { try monitor.destination($0) } ?? monitor
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
