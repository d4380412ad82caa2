// SPDX-License-Identifier: Apache-2.0
import Uplink

// The README's examples that are no programs of their own, and not from a guide.

private struct Page: Sendable {}
private func load() async throws -> Page { Page() }
private func refresh() async {}

func forms() async throws {
    let performer = NetworkOperationPerformer()

    // Thrown or returned. The limit is on the waiting; the operation takes the time it takes.
    let page = try await performer.perform(within: .seconds(3)) { try await load() }

    // One deadline for waiting and operation, which is cancelled then and waited for.
    let whole = try await performer.perform(completingWithin: .seconds(10)) { try await load() }

    // For an operation that neither throws nor returns.
    try await performer.performNetworkOperation(using: { await refresh() }, withinSeconds: 3)

    // Cancelled when the network goes, and run again when it is back, inside the same deadline: five runs at most.
    let file = try await performer.perform(
        completingWithin: .seconds(600), requiring: .internet.and(.stable(for: .seconds(1))), onLoss: .retry()
    ) { try await load() }
    print(page, whole, file)
}

func http(_ note: [UInt8]) async throws {
    try await withHTTPClient { client in
        // In memory, up to a limit.
        let page = try await client.get("https://example.org/").collected(upTo: 1 << 20)
        print(page.status, page.body.count)

        // Of any size, in bounded memory: while nobody reads, the server waits.
        for try await line in try await client.get("https://example.org/log").body.lines(maximumLength: 64 << 10) {
            print(line)
        }

        let response = try await client.post("https://example.org/notes", body: .json(note))
        print(response.status)  // a 404 is an answer, not an error
    }
}
