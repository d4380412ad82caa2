// SPDX-License-Identifier: Apache-2.0

/// The interface of ``NetworkOperationPerformer``, so that a program's own types can use a stand-in in tests.
public protocol NetworkOperationPerforming: Sendable {
    /// Waits up to `seconds` for the network, then runs `operation` in the caller's task; the outcome is a value.
    ///
    /// See ``NetworkOperationPerformer/perform(withinSeconds:requiring:operation:)``.
    nonisolated(nonsending) func perform<Value, Failure: Error>(
        withinSeconds seconds: Double, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, PerformFailure<Failure>>

    /// Waits up to `limit` for the network, then runs `operation` in the caller's task.
    ///
    /// See ``NetworkOperationPerformer/perform(within:requiring:operation:)``.
    nonisolated(nonsending) func perform<Value>(
        within limit: Duration, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value

    /// Waits for the network and runs `operation` within one deadline, `limit` from now.
    ///
    /// See ``NetworkOperationPerformer/perform(completingWithin:requiring:operation:)``.
    nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value

    /// Waits for the network and runs `operation` within one deadline, and reacts to the loss of the network.
    ///
    /// See ``NetworkOperationPerformer/perform(completingWithin:requiring:onLoss:operation:)``.
    nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value

    /// Waits up to `limit` for the network, runs `operation`, and reacts to the loss of the network.
    ///
    /// See ``NetworkOperationPerformer/perform(within:requiring:onLoss:operation:)``.
    nonisolated(nonsending) func perform<Value: Sendable>(
        within limit: Duration, requiring requirement: NetworkRequirement, onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value

    /// Waits for the network and runs `operation` within one deadline, `seconds` from now.
    ///
    /// See ``NetworkOperationPerformer/performNetworkOperation(using:withinSeconds:)``.
    nonisolated(nonsending) func performNetworkOperation(
        using operation: @escaping @Sendable () async -> Void, withinSeconds seconds: Double
    ) async throws
}

extension NetworkOperationPerforming {
    /// ``perform(withinSeconds:requiring:operation:)`` with the internet as the requirement.
    public nonisolated(nonsending) func perform<Value, Failure: Error>(
        withinSeconds seconds: Double, operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, PerformFailure<Failure>> {
        await perform(withinSeconds: seconds, requiring: .internet, operation: operation)
    }

    /// ``perform(within:requiring:operation:)`` with the internet as the requirement.
    public nonisolated(nonsending) func perform<Value>(
        within limit: Duration, operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await perform(within: limit, requiring: .internet, operation: operation)
    }

    /// ``perform(completingWithin:requiring:operation:)`` with the internet as the requirement.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(completingWithin: limit, requiring: .internet, operation: operation)
    }

    /// ``perform(completingWithin:requiring:onLoss:operation:)`` with the internet as the requirement.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(completingWithin: limit, requiring: .internet, onLoss: reaction, operation: operation)
    }

    /// ``perform(within:requiring:onLoss:operation:)`` with the internet as the requirement.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        within limit: Duration, onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(within: limit, requiring: .internet, onLoss: reaction, operation: operation)
    }
}
