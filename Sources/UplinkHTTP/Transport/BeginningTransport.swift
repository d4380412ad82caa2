// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

/// A transport that can be started without waiting, so that code awaiting the response holds one object instead of the
/// request and the response: an `async` function keeps every copy of those that the compiler makes.
package protocol BeginningTransport: HTTPTransport, AnyObject {
    /// The clock of the client's waits, unless it is given one. Those are mostly cancelled, and one of Swift's own
    /// clocks would keep 700 bytes for each until its deadline.
    var clock: ElapsedClock { get }

    /// Makes an exchange, which ``TransportExchange/start(_:)`` starts.
    func begin(_ request: HTTPTransportRequest, carrying body: PreparedBody) throws -> any TransportExchange
}

/// A request on its way, and its response.
package protocol TransportExchange: AnyObject, Sendable {
    /// Sends the request and resumes the waiter when the final head has arrived, or when there will be none. Called
    /// once.
    func start(_ waiter: Suspension)

    /// Makes the transfer end, if it has not.
    func cancel()

    /// Returns or throws what ``HTTPTransport/send(_:)`` would, once the waiter has been resumed.
    func takeResponse() throws -> HTTPTransportResponse
}
