// SPDX-License-Identifier: Apache-2.0
import Harness
import UplinkCore
import UplinkEventLoop
import UplinkTesting

/// Operations that wait on one performer until the network comes, or until they are cancelled, beside tasks that are
/// suspended on a continuation and nothing more.
@main
enum Main {
    static func main() async {
        await Suite(
            "waiting",
            [
                Experiment(
                    "waiting-woken", title: "Operations that wait, all woken by one event", operation: "operation",
                    columns: [.bytesBeyondBaseline("held"), .part("entering"), .part("waking"), .peak],
                    subjects: [
                        Subject("a bare suspended task") { try await Bare.woken($0) },
                        Subject("a performer's operation") { try await Waiting.woken($0, clock: SuspendingClock()) },
                        Subject("the same with a time limit, on LoopClock") {
                            try await Waiting.woken($0, clock: LoopClock.shared, limit: 3600)
                        },
                    ]),
                Experiment(
                    "waiting-cancelled", title: "Operations that wait, all cancelled", operation: "operation",
                    columns: [.part("entering"), .part("cancelling"), .peak],
                    subjects: [
                        Subject("a bare suspended task") { try await Bare.cancelled($0) },
                        Subject("a performer's operation") {
                            try await Waiting.cancelled($0, clock: SuspendingClock())
                        },
                        Subject("the same with a time limit, on LoopClock") {
                            try await Waiting.cancelled($0, clock: LoopClock.shared, limit: 3600)
                        },
                    ]),
            ]
        ).main()
    }
}

/// Waits until something other tasks do has come about; so rarely asked that asking costs nothing.
func until(_ isThere: () -> Bool) async throws {
    while !isThere() { try await Task.sleep(for: .milliseconds(5)) }
}
