// SPDX-License-Identifier: Apache-2.0

/// How a supervised call went: its outcome, and each attempt on the way.
public struct PerformReport<Value: Sendable>: Sendable {
    /// What the throwing form returns or throws.
    public let result: Result<Value, any Error>
    /// The operation's runs in order: none when it never ran, several only with ``NetworkLossReaction/retry(_:)``.
    public let attempts: [PerformAttempt]
}

/// One run of a supervised operation.
public struct PerformAttempt: Sendable {
    /// The time from the call, or from the end of the attempt before, to the start: for the network, a slot, a pause.
    public let waited: Duration
    /// How long the operation ran.
    public let ran: Duration
    /// Whether the operation was cancelled because the network was lost.
    public let lostNetwork: Bool
    /// What the operation threw; nil when it returned.
    public let error: (any Error)?
}
