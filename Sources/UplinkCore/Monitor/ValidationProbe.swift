// SPDX-License-Identifier: Apache-2.0

/// Finds out whether something on the internet answers over one address family: what a monitor validates a path with.
///
/// `Uplink` has some ready made (`http204(_:)`, `expecting(_:at:)`, `tcpConnect(to:port:)`). One of your own:
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
    /// - Parameter check: Is given the family to use and the path as it is, and says what it found: validated, a captive
    ///   portal, or failed. (Any other answer counts as failed.) It runs in a task of its own, on no particular thread,
    ///   which is cancelled when the path changes, the monitor rests or its time is over; it should then return soon.
    public init(_ check: @escaping @Sendable (IPAddress.Family, NetworkPath) async -> PathValidation) {
        self.check = check
    }

    /// Runs the probe once.
    public func callAsFunction(_ family: IPAddress.Family, _ path: NetworkPath) async -> PathValidation {
        await check(family, path)
    }
}
