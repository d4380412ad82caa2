// SPDX-License-Identifier: Apache-2.0

/// What a monitor has done since it last started.
package struct MonitorStatistics: Sendable, Hashable {
    /// Messages of the kernel that could matter.
    package var events: UInt64 = 0
    /// How often all links and addresses were read again because messages were lost.
    package var resyncs: UInt64 = 0
    /// How often the kernel was asked for the path.
    package var evaluations: UInt64 = 0
    /// Changes that were not told because another followed at once.
    package var suppressed: UInt64 = 0
}
