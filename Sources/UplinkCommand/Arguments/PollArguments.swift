// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// What to do where the kernel cannot be asked about the network, as in some sandboxes.
struct PollArguments: ParsableArguments {
    @Option(
        name: .customLong("poll"),
        help: .init("Where netlink is refused, look every so many seconds instead of failing.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var interval: Double?

    func validate() throws {
        guard interval.map((0.1...3600).contains) ?? true else {
            throw ValidationError("--poll takes 0.1 to 3600 seconds")
        }
    }

    /// The configuration of a monitor.
    ///
    /// - Parameter settle: For how many seconds a loss has to last to be reported.
    /// - Throws: `NetworkMonitorError` when a time is invalid.
    func configuration(settle: Double = 0) throws(NetworkMonitorError) -> LinuxNetworkMonitor.Configuration {
        try LinuxNetworkMonitor.Configuration(
            settle: .saturating(seconds: settle),
            whenUnavailable: interval.map { .poll(every: .saturating(seconds: $0)) } ?? .fail)
    }
}
