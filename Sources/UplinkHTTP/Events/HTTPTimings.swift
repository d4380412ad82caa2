// SPDX-License-Identifier: Apache-2.0

/// The durations of the parts of one exchange; nil for a part that was not reached or not needed.
public struct HTTPTimings: Sendable, Hashable {
    /// From the request until it leaves the queue.
    public package(set) var queue: Duration?
    /// Resolving the host's name, including waiting for another request that resolves it.
    public package(set) var nameLookup: Duration?
    /// Connecting, to the proxy if there is one, without TLS.
    public package(set) var connect: Duration?
    /// The TLS handshake with the server. Through a proxy this contains everything from the connection to the proxy on:
    /// the handshake with the proxy itself, and the request for a tunnel.
    public package(set) var tls: Duration?
    /// From the connection until the first byte of the final head.
    public package(set) var firstByte: Duration?
    /// From the head to the end of the body.
    public package(set) var body: Duration?
    /// From the request to its end.
    public package(set) var total: Duration = .zero
    /// Bytes of the request's body that went out.
    public package(set) var sentBytes: Int64 = 0
    /// Bytes of the response's body received, before decoding.
    public package(set) var receivedBytes: Int64 = 0
    /// The connection, if there was one.
    public package(set) var connection: HTTPConnection?

    package init() {}
}
