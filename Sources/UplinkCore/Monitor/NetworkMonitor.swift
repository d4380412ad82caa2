// SPDX-License-Identifier: Apache-2.0

/// Something that knows the network's path and tells when it changes.
///
/// `LinuxNetworkMonitor` asks the kernel; the test kit's `StubNetworkMonitor` is told. One of your own is best built on
/// a ``NetworkPathBroadcaster``, which brings both requirements.
public protocol NetworkMonitor: Sendable {
    /// The path as it is now, or nil while it is not known: before the first answer, and while nobody subscribes.
    ///
    /// Never a guess. May be read from any thread.
    var currentPath: NetworkPath? { get }

    /// The current path as soon as it is known, and every path after it.
    ///
    /// Any number may iterate. A monitor works while there is at least one subscriber.
    var paths: NetworkPaths { get }

    /// How soon after the first subscription the monitor is certain to have told a path or an error.
    ///
    /// A performer waits so long for the monitor's first word, also where a call's own limit is shorter, so that "not
    /// known yet" is not taken for "away". 100 ms unless a monitor says otherwise.
    var timeToFirstPath: Duration { get }
}

extension NetworkMonitor {
    /// 100 ms, unless the monitor says otherwise.
    public var timeToFirstPath: Duration { .milliseconds(100) }
}
