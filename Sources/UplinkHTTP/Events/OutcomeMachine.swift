// SPDX-License-Identifier: Apache-2.0

/// Makes one story of the exchanges that a call consists of, redirects and attempts: pure.
///
/// Each exchange ends by itself, perhaps before the client has looked at its head. Its end is kept until the client
/// takes the answer for the one it wanted, and forgotten when another exchange follows.
struct OutcomeMachine: Sendable {
    /// How far the story has come.
    enum Phase: Sendable, Equatable {
        /// The newest exchange may not be the last.
        case open
        /// The newest exchange is the last; its end is the end.
        case settled
        /// The end has been told.
        case ended
    }

    private(set) var phase = Phase.open
    /// How many exchanges there have been.
    private(set) var exchanges = 0
    /// Those of the newest exchange, once it has ended.
    private(set) var timings = HTTPTimings()
    /// Bytes of the request's body that went out, in all exchanges that have ended.
    private(set) var sentBytes: Int64 = 0
    /// Bytes of answers' bodies that came, in all exchanges that have ended.
    private(set) var receivedBytes: Int64 = 0
    private var newest: UInt64 = 0
    private var end: HTTPEvent?

    /// An exchange tells something. What is returned is told on.
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

    /// An exchange has ended, which each does once, perhaps when the next one has begun.
    private mutating func count(_ event: HTTPEvent) {
        switch event {
        case .finished(let timings), .failed(_, let timings):
            sentBytes += timings.sentBytes
            receivedBytes += timings.receivedBytes
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: break
        }
    }

    /// There is an answer. The end is returned if it has come.
    ///
    /// - Parameter exchange: Whose answer it is. Where it is not the newest one's, a middleware has answered: what becomes
    ///   of an exchange says nothing about that answer any more.
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

    /// There is no answer. The end is returned, once.
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
