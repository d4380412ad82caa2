// SPDX-License-Identifier: Apache-2.0

// The forms that react to the loss of the network while the operation runs.

extension NetworkOperationPerformer {
    /// Waits for the network and runs `operation`, both within one deadline, and reacts to the loss of the network.
    ///
    /// Like ``perform(completingWithin:requiring:operation:)``, but the performer also watches the monitor while the
    /// operation runs. A minimum stable time applies to the start only: the loss of the path takes effect immediately.
    ///
    /// - Parameters:
    ///   - limit: Covers the wait and the operation, and with ``NetworkLossReaction/retry(_:)`` all further waits,
    ///     pauses and runs. Zero and negative: only if the network is available now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network, at its start and while it runs.
    ///   - reaction: What happens to the operation when the newest path no longer meets the requirement.
    ///   - operation: Runs at most once, or with ``NetworkLossReaction/retry(_:)`` as often as the policy allows.
    /// - Throws: As without `onLoss`, and ``NetworkOperationError`` with the code `networkLost` when the operation
    ///   threw after the loss and was not to be run again, or could not be in time; `CancellationError` also when the
    ///   caller was cancelled between two runs.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await performReporting(
            completingWithin: limit, requiring: requirement, onLoss: reaction, operation: operation
        ).result.get()
    }

    /// Waits up to `limit` for the network, runs `operation`, and reacts to the loss of the network.
    ///
    /// Like ``perform(completingWithin:requiring:onLoss:operation:)``, but the limit applies only to the wait: no run
    /// is cut short, and none starts later than `limit` after the call, except for the moment that a monitor needs to
    /// publish its first path.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is available now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network, at its start and while it runs.
    ///   - reaction: What happens to the operation when the newest path no longer meets the requirement.
    ///   - operation: Runs at most once, or with ``NetworkLossReaction/retry(_:)`` as often as the policy allows.
    /// - Throws: As ``perform(completingWithin:requiring:onLoss:operation:)``, but never `deadlineExceeded`.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        within limit: Duration, requiring requirement: NetworkRequirement, onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let request = core.request(requirement, limit: TimeLimit(limit), watchesLoss: reaction.isWatching)
        return try await core.supervise(request, reaction: reaction, operation).result.get()
    }

    /// Does the same as ``perform(completingWithin:requiring:onLoss:operation:)``, and reports each attempt; the
    /// outcome is a value.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is available now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network, at its start and while it runs.
    ///   - reaction: What happens to the operation when the newest path no longer meets the requirement.
    ///   - operation: Runs at most once, or with ``NetworkLossReaction/retry(_:)`` as often as the policy allows.
    /// - Returns: What the throwing form returns or throws, with the time that each run waited and took.
    public nonisolated(nonsending) func performReporting<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement = .internet,
        onLoss reaction: NetworkLossReaction, operation: @escaping @Sendable () async throws -> Value
    ) async -> PerformReport<Value> {
        let request = core.request(
            requirement, limit: TimeLimit(limit), isSupervised: true, watchesLoss: reaction.isWatching)
        return await core.supervise(request, reaction: reaction, operation)
    }
}
