// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// A stand-in for the performer: it does not wait, but does what the test says.
///
/// For tests of code that performs, where neither waiting nor paths are the point. It records the calls.
public final class StubNetworkOperationPerformer: NetworkOperationPerforming {
    /// What becomes of a call.
    public enum Behaviour: Sendable {
        /// The operation runs at once.
        case runs
        /// The operation never runs; this is why.
        case fails(NetworkOperationError)

        /// The operation never runs, because the network does not come.
        public static var timesOut: Self {
            .fails(NetworkOperationError(.timedOut, missing: .path, message: "the network did not come (stub)"))
        }
    }

    /// A call that was made.
    public struct Call: Sendable {
        /// The time limit in seconds.
        public let seconds: Double
        /// What the call required.
        public let requirement: NetworkRequirement
        /// Whether the limit was for the operation too.
        public let isSupervised: Bool
    }

    private let state: Locked<(behaviour: Behaviour, calls: [Call])>

    /// Makes a stand-in.
    public init(_ behaviour: Behaviour = .runs) { state = Locked((behaviour, [])) }

    /// What becomes of the next calls.
    public var behaviour: Behaviour {
        get { state.withLock { $0.behaviour } }
        set { state.withLock { $0.behaviour = newValue } }
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// Records the call, then does what ``behaviour`` says.
    public nonisolated(nonsending) func perform<Value, Failure: Error>(
        withinSeconds seconds: Double, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, PerformFailure<Failure>> {
        do {
            try admit(seconds, requirement, isSupervised: false)
        } catch {
            return .failure(.notStarted(error))
        }
        do throws(Failure) {
            return .success(try await operation())
        } catch {
            return .failure(.operation(error))
        }
    }

    /// Records the call, then does what ``behaviour`` says.
    public nonisolated(nonsending) func perform<Value>(
        within limit: Duration, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try admitOrThrow(limit / .seconds(1), requirement, isSupervised: false)
        return try await operation()
    }

    /// Records the call, then does what ``behaviour`` says.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try admitOrThrow(limit / .seconds(1), requirement, isSupervised: true)
        return try await operation()
    }

    /// Runs the operation once, whatever the reaction: the stand-in's network is never lost.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(completingWithin: limit, requiring: requirement, operation: operation)
    }

    /// Runs the operation once, whatever the reaction: the stand-in's network is never lost.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        within limit: Duration, requiring requirement: NetworkRequirement, onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(within: limit, requiring: requirement, operation: operation)
    }

    /// Records the call, then does what ``behaviour`` says.
    public nonisolated(nonsending) func performNetworkOperation(
        using operation: @escaping @Sendable () async -> Void, withinSeconds seconds: Double
    ) async throws {
        try admitOrThrow(seconds, .internet, isSupervised: true)
        await operation()
    }

    /// The throwing forms tell a cancellation as Swift does.
    private func admitOrThrow(_ seconds: Double, _ requirement: NetworkRequirement, isSupervised: Bool) throws {
        do throws(NetworkOperationError) {
            try admit(seconds, requirement, isSupervised: isSupervised)
        } catch {
            throw error.code == .cancelled ? CancellationError() as any Error : error
        }
    }

    private func admit(
        _ seconds: Double, _ requirement: NetworkRequirement, isSupervised: Bool
    ) throws(NetworkOperationError) {
        let behaviour = state.withLock { state in
            state.calls.append(Call(seconds: seconds, requirement: requirement, isSupervised: isSupervised))
            return state.behaviour
        }
        if seconds.isNaN {
            throw NetworkOperationError(.invalidArgument, message: "the time limit is not a number (stub)")
        }
        if Task.isCancelled { throw NetworkOperationError(.cancelled, message: "cancelled before the start (stub)") }
        switch behaviour {
        case .runs: break
        case .fails(let error): throw error
        }
    }
}
