// SPDX-License-Identifier: Apache-2.0

/// A request in the chain as an object, so that whatever awaits the response holds one reference: see ``HTTPHops``.
final class ChainedRequest: Sendable {
    let request: HTTPClientRequest

    init(_ request: HTTPClientRequest) { self.request = request }
}
