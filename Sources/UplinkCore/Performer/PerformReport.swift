// SPDX-License-Identifier: Apache-2.0

/// The course of a supervised call: its outcome and each attempt.
public struct PerformReport<Value: Sendable>: Sendable {
    /// What the throwing form returns or throws.
    public let result: Result<Value, any Error>
    /// The operation's runs in order: none if it never ran, several only with ``NetworkLossReaction/retry(_:)``.
    public let attempts: [PerformAttempt]
}
