// SPDX-License-Identifier: Apache-2.0
@testable import UplinkCurl

/// What the libcurl that the tests run with does by itself.
extension LibCurl {
    /// Whether it tells that a connection ended without TLS's own end (`close_notify`).
    static var tellsThatTLSWasCut: Bool { version >= 0x080E01 }
    /// Whether it joins folded lines of a head to one (RFC 9112, section 5.2), which nobody can tell afterwards.
    static var unfoldsLines: Bool { version >= 0x081200 }
    /// How many threads look up one name: since 8.20 one for each family.
    static var threadsPerLookup: Int { version >= 0x081400 ? 2 : 1 }
    /// Whether it sends a head of more than 1 MiB.
    static var sendsHugeHeads: Bool { version >= 0x080E00 }
    /// Whether it fails where a plain request for an IPv6 address goes through a proxy.
    static var refusesIPv6ThroughProxies: Bool { version == 0x081500 }
}
