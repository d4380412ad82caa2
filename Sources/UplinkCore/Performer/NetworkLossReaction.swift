// SPDX-License-Identifier: Apache-2.0

/// What happens to a running operation when the newest path no longer meets its requirement.
public struct NetworkLossReaction: Sendable {
    let isWatching: Bool
    let policy: RetryPolicy?

    /// The operation is left alone.
    public static let leave = Self(isWatching: false, policy: nil)

    /// The operation is cancelled and waited for. If it then throws, the call throws
    /// ``NetworkOperationError/Code/networkLost``; if it returns a value anyway, the value is delivered.
    public static let cancel = Self(isWatching: true, policy: nil)

    /// The operation is cancelled, waited for, and run again when the network is back, within the same time limit: as
    /// often, and after such pauses, as the policy says, five runs by default.
    ///
    /// The operation must be repeatable. It is also run again if it fails by itself and the policy blames the network
    /// for the error.
    public static func retry(_ policy: RetryPolicy = RetryPolicy()) -> Self { Self(isWatching: true, policy: policy) }
}
