// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Uplink

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow the network's path: one line now, and one for every change.",
        discussion: """
            The kernel is asked for the way to the internet; nothing is sent there.

              uplink watch
              uplink watch --json | jq .status
              uplink watch --count 1               The path as it is now.

            With --json every line is an object with all that is known of the path, and is written at once.
            """)

    @Flag(help: "Write one JSON object per line.")
    var json = false

    @Option(help: "End after so many paths.")
    var count: Int?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        try await untilInterrupted { [json, count] in
            try await withThrowingTaskGroup { group in
                group.addTask { try await Self.follow(json: json, count: count ?? .max) }
                group.addTask { for await _ in Output.standard.readerLeft { return } }
                try await group.next()
                group.cancelAll()
            }
        }
    }

    private static func follow(json: Bool, count: Int) async throws {
        var written = 0
        for try await path in LinuxNetworkMonitor.shared.paths {
            do {
                try Output.standard.write((json ? path.json : "\(timeOfDay())  \(path)") + "\n")
            } catch let error as OutputError where error.isClosed {
                return  // who read it has seen enough
            }
            written += 1
            if written == count { return }
        }
    }

    private static func timeOfDay() -> String {
        var (now, parts) = (time(nil), tm())
        localtime_r(&now, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
