// SPDX-License-Identifier: Apache-2.0

// The forms that react to the loss of the network while the operation runs.

extension NetworkOperationPerformer {
    /// Waits for the network and runs `operation`, both under one deadline, and reacts to the loss of the network.
    ///
    /// As ``perform(completingWithin:requiring:operation:)``; and while the operation runs, the performer watches the
    /// monitor. Minimum stable time is for the start: the loss of the path counts at once.
    ///
    /// - Parameters:
    ///   - limit: For the wait, the operation, and with ``NetworkLossReaction/retry(_:)`` for all further waits, pauses
    ///     and runs together. Zero and negative: only if the network is there now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network, at its start and while it runs.
    ///   - reaction: What becomes of the operation when the newest path no longer meets the requirement.
    ///   - operation: Runs at most once, or with ``NetworkLossReaction/retry(_:)`` as often as the policy allows.
    /// - Throws: As without `onLoss`, and ``NetworkOperationError`` with the code `networkLost` when the operation threw
    ///   after the loss and was not to be run again, or could not be in time; `CancellationError` also when the caller
    ///   was cancelled between two runs.
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
    /// As ``perform(completingWithin:requiring:onLoss:operation:)``, but the limit is on the waiting alone: no run is
    /// cut short, and none starts after `limit` from the call, but for the moment that a monitor needs for its first word.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is there now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network, at its start and while it runs.
    ///   - reaction: What becomes of the operation when the newest path no longer meets the requirement.
    ///   - operation: Runs at most once, or with ``NetworkLossReaction/retry(_:)`` as often as the policy allows.
    /// - Throws: As ``perform(completingWithin:requiring:onLoss:operation:)``, but never `deadlineExceeded`.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        within limit: Duration, requiring requirement: NetworkRequirement, onLoss reaction: NetworkLossReaction,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let request = core.request(requirement, limit: TimeLimit(limit), watchesLoss: reaction.isWatching)
        return try await core.supervise(request, reaction: reaction, operation).result.get()
    }

    /// ``perform(completingWithin:requiring:onLoss:operation:)`` whose outcome is a value that tells of each attempt.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is there now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network, at its start and while it runs.
    ///   - reaction: What becomes of the operation when the newest path no longer meets the requirement.
    ///   - operation: Runs at most once, or with ``NetworkLossReaction/retry(_:)`` as often as the policy allows.
    /// - Returns: What the throwing form returns or throws, and how long each run was waited for and lasted.
    public nonisolated(nonsending) func performReporting<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement = .internet,
        onLoss reaction: NetworkLossReaction, operation: @escaping @Sendable () async throws -> Value
    ) async -> PerformReport<Value> {
        let request = core.request(
            requirement, limit: TimeLimit(limit), isSupervised: true, watchesLoss: reaction.isWatching)
        return await core.supervise(request, reaction: reaction, operation)
    }
}
