// SPDX-License-Identifier: Apache-2.0

/// What a monitor has done since it was made, for metrics and for finding out why it published what it did.
///
/// Nothing is counted while nobody subscribes, since the monitor pauses then.
public struct MonitorStatistics: Sendable, Hashable {
    /// The kernel's messages that arrived. A filter in the kernel keeps most of the irrelevant ones away.
    public internal(set) var messages: UInt64 = 0
    /// Messages that the kernel dropped because they were not read in time (`SO_MEMINFO`). Links and addresses are then
    /// read again, so that no change is missed. A message for which the kernel found no memory is not counted here.
    public internal(set) var dropped: UInt64 = 0
    /// How often all links and addresses were read again, because messages were lost or the system had slept.
    public internal(set) var resyncs: UInt64 = 0
    /// How often the kernel was asked for the path.
    public internal(set) var evaluations: UInt64 = 0
    /// Paths that were published.
    public internal(set) var told: UInt64 = 0
    /// Changes that were not published, because another followed within the interval or before a loss had settled.
    public internal(set) var suppressed: UInt64 = 0
    /// Paths that were replaced by a newer one before a subscriber had taken them.
    public internal(set) var superseded: UInt64 = 0
    /// How often the wall clock was set, or the system woke from sleep.
    public internal(set) var clockSteps: UInt64 = 0
    /// How often the system woke from sleep.
    public internal(set) var resumes: UInt64 = 0
    /// How often the network was inspected without netlink.
    public internal(set) var polls: UInt64 = 0
    /// Probes that were started to validate a path.
    public internal(set) var validations: UInt64 = 0

    /// The names and the numbers, in the order of this type's properties.
    private var entries: [(name: String, value: UInt64)] {
        [
            ("messages", messages), ("dropped", dropped), ("resyncs", resyncs), ("evaluations", evaluations),
            ("told", told), ("suppressed", suppressed), ("superseded", superseded), ("clockSteps", clockSteps),
            ("resumes", resumes), ("polls", polls), ("validations", validations),
        ]
    }

    /// The numbers as one line of JSON (RFC 8259): an object with every property under its own name.
    public var json: String { "{" + entries.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}" }

    /// Adds what a source of paths counted while it was working.
    mutating func add(_ other: Self) {
        messages += other.messages
        dropped += other.dropped
        resyncs += other.resyncs
        evaluations += other.evaluations
    }
}

extension MonitorStatistics: CustomStringConvertible {
    /// One line for people, such as `messages 12, dropped 0, resyncs 0, …`.
    public var description: String { entries.map { "\($0.name) \($0.value)" }.joined(separator: ", ") }
}
