// SPDX-License-Identifier: Apache-2.0
package import Testing
package import UplinkTesting

/// Makes two network namespaces with nothing in them, a host and a router, for the time of `body`.
package nonisolated(nonsending) func withNetworkNamespaces<Result>(
    _ body: nonisolated(nonsending) (_ host: NetworkNamespace, _ router: NetworkNamespace) async throws -> Result
) async throws -> Result {
    try await withTestNetwork(.empty) { try await body($0.device, $0.router) }
}

extension Trait where Self == ConditionTrait {
    /// For tests that make network namespaces.
    package static var needsNetworkNamespaces: Self {
        .enabled(if: TestNetwork.isPermitted, Comment(rawValue: TestNetwork.requirement))
    }
}
