// SPDX-License-Identifier: Apache-2.0
import Uplink

/// What a part of the storm did, and what it found broken.
final class StormRecord: Sendable {
    /// So many calls show every outcome, however slow the machine is.
    private static let many = 20_000

    private struct State {
        var rounds = 0
        var begun = 0
        var outcomes: [String: Int] = [:]
        var broken: [String] = []
        var brokenInAll = 0
    }

    private let state = Locked(State())

    /// How many calls have begun.
    var calls: Int { state.withLock { $0.begun } }

    /// What is broken so far; the first few words of it.
    var faults: [String] { state.withLock { $0.broken } }

    func begin() { state.withLock { $0.begun += 1 } }

    func end(_ outcome: String) { state.withLock { $0.outcomes[outcome, default: 0] += 1 } }

    /// Runs a round, which must not throw.
    nonisolated(nonsending) func round(_ body: nonisolated(nonsending) () async throws -> Void) async {
        do { try await body() } catch { broken("a round ended with \(error)") }
        state.withLock { $0.rounds += 1 }
    }

    func broken(_ what: String) {
        state.withLock { state in
            state.brokenInAll += 1
            if state.broken.count < 10 { state.broken.append(what) }
        }
    }

    func expect(_ isSo: Bool, _ what: @autoclosure () -> String) { if !isSo { broken(what()) } }

    /// To be called when all is over: every call that began has ended, once.
    func close(_ kinds: [String]) {
        let state = state.withLock { $0 }
        let ended = state.outcomes.values.reduce(0, +)
        expect(ended == state.begun, "\(state.begun) calls began and \(ended) ended")
        guard state.begun >= Self.many else { return }
        for kind in kinds { expect(state.outcomes[kind] != nil, "\(kind) was never seen") }
    }

    /// A line of the report.
    func line(_ name: String) -> String {
        let state = state.withLock { $0 }
        let outcomes = state.outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
        let broken = state.brokenInAll == 0 ? "" : "; BROKEN \(state.brokenInAll) times"
        return "  \(name): \(state.begun) calls in \(state.rounds) rounds: \(outcomes.joined(separator: ", "))\(broken)"
    }
}
