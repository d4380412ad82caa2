// SPDX-License-Identifier: Apache-2.0

/// Why a probe failed, in a few words.
struct ProbeFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
