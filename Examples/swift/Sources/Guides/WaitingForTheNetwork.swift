// SPDX-License-Identifier: Apache-2.0
import Uplink

// The code of the guide "Waiting for the network".

private let performer = NetworkOperationPerformer()

private struct Page: Sendable {}
private func load() async throws -> Page { Page() }
private func refresh() async {}

@MainActor
final class Reader {
    private var pages: [Page] = []
    private let performer = NetworkOperationPerformer()

    func more() async throws {
        try await performer.perform(within: .seconds(3)) {
            pages.append(try await load())
        }
    }
}

func asAValue() async {
    switch await performer.perform(withinSeconds: 3, operation: load) {
    case .success(let page): print("loaded", page)
    case .failure(.notStarted(let error)): print("never started:", error)
    case .failure(.operation(let error)): print("started, and failed:", error)
    }
}

func onWhichNetwork() async throws {
    let nightly = NetworkRequirement.notMetered.and(.stable(for: .seconds(5)))
    try await performer.perform(within: .seconds(3600), requiring: nightly) { _ = try await load() }

    let overWireGuard = NetworkRequirement.interface("wg0")
    try await performer.perform(within: .seconds(60), requiring: overWireGuard) { _ = try await load() }

    let withNameServers = NetworkRequirement.predicate("a name server that can be reached") { path in
        path.isSatisfied && path.dns.resolvers.contains { $0.hasRoute }
    }
    try await performer.perform(within: .seconds(60), requiring: withNameServers) { _ = try await load() }
}

func toOneAddress() async throws {
    let plant = try LinuxNetworkMonitor.shared.destination("10.1.2.3")
    let performer = NetworkOperationPerformer(monitor: plant, clock: LoopClock.shared)
    try await performer.perform(within: .seconds(30)) { _ = try await load() }
}

func whenItIsLost() async throws {
    let report = await performer.performReporting(
        completingWithin: .seconds(600), requiring: .internet.and(.stable(for: .seconds(1))),
        onLoss: .retry(RetryPolicy(maximumAttempts: 10))
    ) { try await load() }
    for attempt in report.attempts {
        print("waited \(attempt.waited), ran \(attempt.ran), lost its network: \(attempt.lostNetwork)")
    }
    let page = try report.result.get()
    print(page)
}

func fourAtOnce(_ urls: [String]) async throws {
    let performer = NetworkOperationPerformer(
        monitor: LinuxNetworkMonitor.shared, clock: LoopClock.shared, maximumRunning: 4)
    try await withThrowingTaskGroup { group in
        for url in urls {
            group.addTask {
                try await performer.perform(within: .seconds(60)) {
                    _ = try await HTTPClient.shared.get(url).body.collect(upTo: 1 << 20)
                }
            }
        }
        try await group.waitForAll()
    }
}

final class Button {
    private var refreshing: NetworkOperationHandle<Void>?

    func pressed() { refreshing = NetworkOperationPerformer().start(within: .seconds(10)) { await refresh() } }
    func closed() { refreshing?.cancel() }
}
