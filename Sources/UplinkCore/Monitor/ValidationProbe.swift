// SPDX-License-Identifier: Apache-2.0

/// A check whether something on the internet answers over one address family, used by a monitor to validate a path.
///
/// `Uplink` has some ready-made ones (`http204(_:)`, `expecting(_:at:)`, `tcpConnect(to:port:)`). To write your own:
///
/// ```swift
/// let probe = ValidationProbe { family, path in
///     await myServerAnswers(over: family) ? .validated(at: .now) : .failed("my server does not answer")
/// }
/// ```
public struct ValidationProbe: Sendable {
    private let check: @Sendable (IPAddress.Family, NetworkPath) async -> PathValidation

    /// Makes a probe.
    ///
    /// - Parameter check: Gets the family to use and the current path, and returns what it found: validated, a captive
    ///   portal, or failed. (Any other answer counts as failed.) It runs in a task of its own, on no particular thread.
    ///   The task is cancelled when the path changes, the monitor pauses or the probe's time is over; the check should
    ///   then return soon.
    public init(_ check: @escaping @Sendable (IPAddress.Family, NetworkPath) async -> PathValidation) {
        self.check = check
    }

    /// Runs the probe once.
    public func callAsFunction(_ family: IPAddress.Family, _ path: NetworkPath) async -> PathValidation {
        await check(family, path)
    }
}
