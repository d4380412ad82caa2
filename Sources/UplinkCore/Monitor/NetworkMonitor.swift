// SPDX-License-Identifier: Apache-2.0

/// A source of the network's path and of its changes.
///
/// `LinuxNetworkMonitor` asks the kernel; the test kit's `StubNetworkMonitor` is told its path by the test. To write
/// your own, build it on ``NetworkPathBroadcaster``, which provides both required properties and forgets the path when
/// the last subscriber leaves. The test kit's `NetworkMonitorConformance` checks the result.
public protocol NetworkMonitor: Sendable {
    /// The current path, or nil while it is not known: before the first answer, while there is no subscriber, and after
    /// the monitor's end.
    ///
    /// Never a guess: a performer starts operations on this path without asking further. A monitor that keeps up to
    /// date anyway may know its path also while there is no subscriber. May be read from any thread.
    var currentPath: NetworkPath? { get }

    /// The current path as soon as it is known, then every path that follows it.
    ///
    /// Any number of tasks may iterate. The monitor works while there is at least one subscriber.
    var paths: NetworkPaths { get }

    /// The longest time, from the first subscription, until the monitor has published a path or failed.
    ///
    /// A performer waits at least this long for the first path, even when a call's own limit is shorter, so that "not
    /// known yet" is not mistaken for "offline". 100 ms unless a monitor says otherwise.
    var timeToFirstPath: Duration { get }
}

extension NetworkMonitor {
    /// 100 ms, unless the monitor says otherwise.
    public var timeToFirstPath: Duration { .milliseconds(100) }
}
