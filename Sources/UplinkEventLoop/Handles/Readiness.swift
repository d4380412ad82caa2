// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// What a descriptor is ready for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A read would not block.
    package static let readable = Self(rawValue: UInt32(UV_READABLE.rawValue))
    /// A write would not block.
    package static let writable = Self(rawValue: UInt32(UV_WRITABLE.rawValue))
    /// Both directions.
    package static let both: Self = [.readable, .writable]
    /// The descriptor has an error to report. **Watching has stopped**: start again to hear more.
    package static let error = Self(rawValue: 1 << 31)

    /// The same as the protocol's method, which other modules would call unspecialised.
    package func contains(_ other: Self) -> Bool { rawValue & other.rawValue == other.rawValue }
}
