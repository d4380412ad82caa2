// SPDX-License-Identifier: Apache-2.0

/// An error that can say whether the network is to blame, so that the performer need not know who threw it.
public protocol NetworkFailure: Error {
    /// Whether the network's absence or change caused the failure, so that trying again on another path may succeed.
    var isNetworkFailure: Bool { get }
}
