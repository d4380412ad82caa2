// SPDX-License-Identifier: Apache-2.0

/// Combines the exchanges of a call, its redirects and attempts, into one sequence of events: pure.
///
/// Each exchange ends by itself, perhaps before the client has looked at its head. Its end is kept until the client
/// accepts the response, and dropped when another exchange follows.
struct OutcomeMachine: Sendable {
    /// The state of the sequence.
    enum Phase: Sendable, Equatable {
        /// The newest exchange may not be the last.
        case open
        /// The newest exchange is the last; its end is the end.
        case settled
        /// The end has been reported.
        case ended
    }

    private(set) var phase = Phase.open
    /// The number of exchanges so far.
    private(set) var exchanges = 0
    /// The timings of the newest exchange, once it has ended.
    private(set) var timings = HTTPTimings()
    /// Bytes of the request's body that went out, in all exchanges that have ended.
    private(set) var sentBytes: Int64 = 0
    /// Bytes of response bodies received, in all exchanges that have ended.
    private(set) var receivedBytes: Int64 = 0
    private var newest: UInt64 = 0
    private var end: HTTPEvent?

    /// An exchange reports an event. Returns the event to pass on, if any.
    mutating func told(_ event: HTTPEvent, by exchange: UInt64) -> HTTPEvent? {
        guard phase != .ended else { return nil }
        count(event)
        guard exchange >= newest else { return nil }
        if exchange > newest {
            (newest, end, timings) = (exchange, nil, HTTPTimings())
            exchanges += 1
        }
        switch event {
        case .finished(let timings), .failed(_, let timings): return ended(event, timings)
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: return event
        }
    }

    /// Counts an exchange that has ended, which happens once for each, perhaps after the next one has begun.
    private mutating func count(_ event: HTTPEvent) {
        switch event {
        case .finished(let timings), .failed(_, let timings):
            sentBytes += timings.sentBytes
            receivedBytes += timings.receivedBytes
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: break
        }
    }

    /// There is a response. Returns the end if it has already come.
    ///
    /// - Parameter exchange: The exchange whose response it is. If it is not the newest one, a middleware has answered:
    ///   the fate of an exchange then says nothing about that response.
    mutating func settled(by exchange: UInt64?) -> HTTPEvent? {
        switch phase {
        case .open:
            guard let end = exchange == newest ? end : .finished(timings) else {
                phase = .settled
                return nil
            }
            phase = .ended
            return end
        case .settled, .ended: return nil
        }
    }

    /// There is no response. Returns the end, once.
    mutating func failed(_ error: HTTPClientError?) -> HTTPEvent? {
        switch phase {
        case .open, .settled:
            phase = .ended
            return .failed(error, timings)
        case .ended: return nil
        }
    }

    private mutating func ended(_ event: HTTPEvent, _ timings: HTTPTimings) -> HTTPEvent? {
        self.timings = timings
        switch phase {
        case .open:
            end = end ?? event
            return nil
        case .settled:
            phase = .ended
            return event
        case .ended: return nil
        }
    }
}
