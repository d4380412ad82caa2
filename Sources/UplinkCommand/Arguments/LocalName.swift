// SPDX-License-Identifier: Apache-2.0

/// Names that need no network.
enum LocalName {
    /// Whether a name is this host's by definition: `localhost`, and all below it (RFC 6761, section 6.3). libcurl looks
    /// none of them up.
    static func isLoopback(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost")
    }
}
