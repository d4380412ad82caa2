// SPDX-License-Identifier: Apache-2.0

/// An error that can say whether the network is to blame, so that the performer need not know who threw it.
public protocol NetworkFailure: Error {
    /// Whether the absence or a change of the network caused the failure, so that another attempt on another path may
    /// succeed.
    var isNetworkFailure: Bool { get }
}
