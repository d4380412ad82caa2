// SPDX-License-Identifier: Apache-2.0
import Uplink

// The README's examples that are not programs of their own.

private struct Page: Sendable {}
private func load() async throws -> Page { Page() }
private func refresh() async {}

func forms() async throws {
    let performer = NetworkOperationPerformer()

    // A Result: the outcome as a value, never thrown.
    let result = await performer.perform(withinSeconds: 3) { await refresh() }

    // Thrown or returned. The limit is on the waiting; the operation takes the time it takes.
    let page = try await performer.perform(within: .seconds(3)) { try await load() }

    // One deadline for waiting and operation, which is cancelled then and waited for.
    let whole = try await performer.perform(completingWithin: .seconds(10)) { try await load() }

    // For an operation that neither throws nor returns.
    try await performer.performNetworkOperation(using: { await refresh() }, withinSeconds: 3)

    // Not any network will do.
    try await performer.perform(within: .seconds(60), requiring: .ipv6.and(.notMetered)) { await refresh() }
    print(result, page, whole)

    // Cancelled when the network goes, and run again when it is back, inside the same deadline.
    let file = try await performer.perform(
        completingWithin: .seconds(600), requiring: .internet.and(.stable(for: .seconds(1))), onLoss: .retry()
    ) { try await load() }
    print(file)
}

func monitors() async throws {
    // Held down over short breaks, validated over each family, and by other means where a sandbox refuses netlink.
    let monitor = LinuxNetworkMonitor(
        on: .shared, configuration: try .init(settle: .seconds(2), whenUnavailable: .poll(every: .seconds(10))),
        validator: PathValidator(.http204("http://connectivitycheck.gstatic.com/generate_204")))
    for try await path in monitor.paths { print(path) }
}
