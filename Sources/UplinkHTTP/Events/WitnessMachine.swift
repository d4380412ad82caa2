// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// What is known of an exchange, from what its transport reports and from what its reader sees: pure. It lets one head
/// and one end through, and nothing after that.
struct WitnessMachine: Sendable {
    /// Whether the transport has reported anything, so that it will also report the end.
    private var isReported = false
    private var hasHead = false
    private var hasEnd = false
    /// Whether nobody wants the body.
    private var isDeclined = false

    /// The transport reports an event. Returns what observers hear of it.
    mutating func reported(_ event: HTTPEvent) -> HTTPEvent? {
        isReported = true
        guard !hasEnd else { return nil }
        if case .head = event {
            guard !hasHead else { return nil }
            hasHead = true
        }
        hasEnd = event.isLast
        return seen(event)
    }

    /// A head is there. Returns the event for it, unless the transport has reported it.
    mutating func headArrived(_ status: HTTPResponse.Status) -> HTTPEvent? {
        defer { hasHead = true }
        return hasHead || hasEnd ? nil : .head(status)
    }

    /// Nobody wants the body any more, though it may still be read.
    mutating func declined() { isDeclined = true }

    /// The exchange has ended. Returns what observers hear of that.
    ///
    /// - Parameter isCertain: Whether a transport that has reported events has no end left to report.
    mutating func ended(_ event: HTTPEvent, isCertain: Bool) -> HTTPEvent? {
        guard !hasEnd, isCertain || !isReported else { return nil }
        hasEnd = true
        return seen(event)
    }

    /// The limit for reading what nobody wants is no timeout of the observers'.
    private func seen(_ event: HTTPEvent) -> HTTPEvent {
        guard isDeclined, case .failed(let error?, let timings) = event, error.code == .totalTimeout else {
            return event
        }
        return .failed(nil, timings)
    }
}
