// SPDX-License-Identifier: Apache-2.0

/// The connection that a request goes out on.
public struct HTTPConnection: Sendable, Hashable {
    /// Whether it was opened for an earlier request.
    public package(set) var isReused = false
    /// Whether TLS resumed an earlier session; nil without TLS, on a reused connection, and if libcurl does not say.
    public package(set) var isTLSResumed: Bool?
    /// The address and port of this end, such as `192.0.2.1:40000`; empty where there is none (Unix sockets).
    public package(set) var localAddress = ""
    /// The address and port of the other end, which may be a proxy's; empty where there is none.
    public package(set) var remoteAddress = ""

    package init() {}
}
