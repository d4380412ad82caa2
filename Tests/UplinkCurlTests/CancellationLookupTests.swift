// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Cancelling who looks a name up, and who waits at the gate for what that one finds out: the resolver never answers.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct CancellationLookupTests {
    /// Who is cancelled first.
    enum Victim: String, CaseIterable {
        case leader, follower
    }

    private let rounds = getenv("UPLINK_FULL") == nil ? 24 : 100
    /// A lookup that is waited for takes seconds.
    private let limit = Timing.limit(Timing.slack(.milliseconds(50)), otherwise: .seconds(2))

    @Test(arguments: Victim.allCases) func eachEndsSoonAndNothingIsLeft(of victim: Victim) async throws {
        let before = Census()
        try await withSilentResolver { _, transport, _ in
            for round in 0..<rounds {
                let time = try await Timing.measure({ $0 < limit }) {
                    try await cancel(victim, of: transport, "http://slow\(round).test/")
                }
                #expect(time < limit, "\(victim) in round \(round): \(time)")
            }
        }
        // The threads of lookups end by themselves, since nobody listens any more at the name server's address.
        try await eventually(within: .seconds(60), "no descriptor and no thread is left") {
            let now = Census()
            return now.descriptors <= before.descriptors + 8 && now.threads <= before.threads + 16
        }
    }

    /// Starts two transfers to a host, and cancels one and then the other.
    ///
    /// - Returns: How long it took until the slower one had ended.
    private func cancel(_ victim: Victim, of transport: CurlTransport, _ url: String) async throws -> Duration {
        let leading = Recorder()
        let leader = Task { _ = try await transport.get(url, leading) }
        try await eventually("the leader looks the name up: \(leading.words)") { await transport.census() == (1, 1) }
        let following = Recorder()
        let follower = Task { _ = try await transport.get(url, following) }
        try await eventually("the follower has its turn: \(following.words)") { following.words.contains("started") }
        #expect(await transport.census() == (2, 1), "one looks the name up, for both")

        let (first, second) = victim == .leader ? (leader, follower) : (follower, leader)
        let firstTime = try await time(ofCancelling: first)
        // Whoever is left looks the name up, or goes on with that.
        try await eventually("the other one looks the name up") { await transport.census() == (1, 1) }
        let secondTime = try await time(ofCancelling: second)
        #expect(await transport.census() == (0, 0))
        for recorder in [leading, following] {
            #expect(recorder.words == ["queued", "started", "failed cancelled"])
        }
        return max(firstTime, secondTime)
    }

    private func time(ofCancelling task: Task<Void, any Error>) async throws -> Duration {
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        return ContinuousClock.now - start
    }
}
