// SPDX-License-Identifier: Apache-2.0
import Harness

/// The path monitor beside a reader of the same socket in C, in network namespaces. Needs root.
@main
enum Main {
    static func main() async {
        await Suite(
            "monitor",
            [
                Experiment(
                    "monitor-latency",
                    title: "From a change of the default route to its being told, with so many routes",
                    operation: "change", counts: [10, 300_000], columns: [.time("p50"), .time("p99"), .time("worst")],
                    subjects: [
                        Subject("plain C, the event alone") { try await Latency.plain($0) },
                        Subject("Uplink, an element of `paths`") { try await Latency.uplink($0) },
                    ]),
                Experiment(
                    "monitor-churn", title: "Routes that do not matter come and go", operation: "event",
                    counts: [200_000, 1_000_000],
                    columns: [
                        .number("events-per-second"), .number("wake-ups"), .time("CPU-of-the-reader"), .number("read"),
                        .number("dropped"), .number("updates"),
                    ],
                    subjects: [
                        Subject("plain C, no filter") { try await Churn.plain($0) },
                        Subject("Uplink") { try await Churn.uplink($0, isFiltered: true) },
                        Subject("Uplink without its filter") { try await Churn.uplink($0, isFiltered: false) },
                    ]),
                Experiment(
                    "monitor-start", title: "To the first path, with so many links", operation: "start",
                    counts: [10, 800], columns: [.time("p50"), .time("worst")],
                    subjects: [
                        Subject("plain C: sockets, links, addresses, one route") { try await Start.plain($0) },
                        Subject("Uplink, the first element of `paths`") { try await Start.uplink($0) },
                    ]),
                Experiment(
                    "monitor-idle", title: "Nothing happens for so many seconds", operation: "second", counts: [15],
                    columns: [.number("wake-ups")],
                    subjects: [
                        Subject("plain C") { try await Idle.plain($0) },
                        Subject("Uplink") { try await Idle.uplink($0) },
                    ]),
            ]
        ).main()
    }
}
