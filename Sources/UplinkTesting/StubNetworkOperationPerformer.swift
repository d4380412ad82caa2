// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// A stand-in for the performer that does not wait, but does what the test says.
///
/// For tests of code that uses a performer, where neither waiting nor paths are the point. It records the calls.
public final class StubNetworkOperationPerformer: NetworkOperationPerforming {
    /// What becomes of a call.
    public enum Behaviour: Sendable {
        /// The operation runs immediately.
        case runs
        /// The operation never runs, and this is the reason.
        case fails(NetworkOperationError)

        /// The operation never runs, because the network does not come. A call without a limit waits: until it is
        /// cancelled, or until ``StubNetworkOperationPerformer/behaviour`` changes.
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
        /// Whether the limit was also for the operation.
        public let isSupervised: Bool
    }

    private struct State {
        var behaviour: Behaviour
        var calls: [Call] = []
        /// Calls without a limit that wait for a network that does not come.
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state: Locked<State>

    /// Creates a stand-in.
    public init(_ behaviour: Behaviour = .runs) { state = Locked(State(behaviour: behaviour)) }

    /// What becomes of the next calls, and of those that wait without a limit.
    public var behaviour: Behaviour {
        get { state.withLock { $0.behaviour } }
        set {
            let waiting = state.withLock { state in
                state.behaviour = newValue
                defer { state.waiting = [] }
                return state.waiting
            }
            for call in waiting { call.finish() }
        }
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// Records the call, then does what ``behaviour`` says.
    public nonisolated(nonsending) func perform<Value, Failure: Error>(
        withinSeconds seconds: Double, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, PerformFailure<Failure>> {
        do {
            try await admit(seconds, requirement, isSupervised: false)
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
        try await admitOrThrow(limit / .seconds(1), requirement, isSupervised: false)
        return try await operation()
    }

    /// Records the call, then does what ``behaviour`` says. The operation finds its limit in
    /// `OperationDeadline.current`, all of which is left as long as it runs: no time passes for the stand-in.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await admitOrThrow(limit / .seconds(1), requirement, isSupervised: true)
        return try await OperationDeadline.withAll(of: TimeLimit(limit), operation)
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

    /// Records the call, then does what ``behaviour`` says. The operation finds its limit in
    /// `OperationDeadline.current`.
    public nonisolated(nonsending) func performNetworkOperation(
        using operation: @escaping @Sendable () async -> Void, withinSeconds seconds: Double
    ) async throws {
        try await admitOrThrow(seconds, .internet, isSupervised: true)
        try await OperationDeadline.withAll(of: TimeLimit(seconds: seconds) ?? .unlimited, operation)
    }

    /// The throwing forms report a cancellation as Swift does.
    private nonisolated(nonsending) func admitOrThrow(
        _ seconds: Double, _ requirement: NetworkRequirement, isSupervised: Bool
    ) async throws {
        do throws(NetworkOperationError) {
            try await admit(seconds, requirement, isSupervised: isSupervised)
        } catch {
            throw error.code == .cancelled ? CancellationError() as any Error : error
        }
    }

    private nonisolated(nonsending) func admit(
        _ seconds: Double, _ requirement: NetworkRequirement, isSupervised: Bool
    ) async throws(NetworkOperationError) {
        state.withLock { state in
            state.calls.append(Call(seconds: seconds, requirement: requirement, isSupervised: isSupervised))
        }
        guard let limit = TimeLimit(seconds: seconds) else {
            throw NetworkOperationError(.invalidArgument, message: "the time limit is not a number (stub)")
        }
        while true {
            if Task.isCancelled {
                throw NetworkOperationError(.cancelled, message: "cancelled before the start (stub)")
            }
            let (change, call) = AsyncStream.makeStream(of: Never.self)
            let behaviour = state.withLock { state in
                if case .fails(let error) = state.behaviour, error.code == .timedOut, limit == .unlimited {
                    state.waiting.append(call)
                    return nil as Behaviour?
                }
                return state.behaviour
            }
            switch behaviour {
            case .runs: return
            case .fails(let error): throw error
            case nil: for await _ in change {}
            }
        }
    }
}
