// SPDX-License-Identifier: Apache-2.0

/// What becomes of a running operation when the newest path no longer meets its requirement.
public struct NetworkLossReaction: Sendable {
    let isWatching: Bool
    let policy: RetryPolicy?

    /// The operation is left alone.
    public static let leave = Self(isWatching: false, policy: nil)

    /// The operation is cancelled and waited for. If it throws then, that is
    /// ``NetworkOperationError/Code/networkLost``; a value that it returns all the same is delivered.
    public static let cancel = Self(isWatching: true, policy: nil)

    /// The operation is cancelled, waited for, and run again when the network is back, inside the same time limit.
    ///
    /// Work that runs again must be repeatable. It is also run again when it fails by itself and the policy takes the
    /// error for the network's doing.
    public static func retry(_ policy: RetryPolicy = RetryPolicy()) -> Self { Self(isWatching: true, policy: policy) }
}
