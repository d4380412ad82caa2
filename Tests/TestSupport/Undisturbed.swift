// SPDX-License-Identifier: Apache-2.0
package import Testing
import UplinkCore

/// Lets one suite of its kind run at a time, in the order in which they come.
///
/// For suites that measure real time or processes, or that load all cores: beside one another they would measure each
/// other. Suites without the trait run beside them as usual.
package struct Undisturbed: SuiteTrait, TestScoping {
    private static let turns = Turns()

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.turns.begin()
        defer { Self.turns.end() }
        try await function()
    }
}

extension Trait where Self == Undisturbed {
    /// Runs the suite while no other suite with this trait runs.
    package static var undisturbed: Self { Self() }
}

/// A queue of those who want to be alone.
private final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func end() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
