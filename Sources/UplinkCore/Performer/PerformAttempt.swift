// SPDX-License-Identifier: Apache-2.0

/// One run of a supervised operation.
public struct PerformAttempt: Sendable {
    /// The time from the call, or from the end of the previous attempt, to the start: waiting for the network, a slot
    /// or a pause.
    public let waited: Duration
    /// How long the operation ran.
    public let ran: Duration
    /// Whether the operation was cancelled because the network was lost.
    public let lostNetwork: Bool
    /// What the operation threw; nil when it returned.
    public let error: (any Error)?
}
