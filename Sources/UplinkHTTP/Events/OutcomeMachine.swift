// SPDX-License-Identifier: Apache-2.0

/// Combines the exchanges of a call, its redirects and attempts, into one sequence of events: pure.
///
/// Each exchange ends by itself, perhaps before the client has looked at its head. Its end is kept until the client
/// accepts a response: the end of the exchange that this one is of is the end of the sequence, even if a middleware has
/// begun others after it.
struct OutcomeMachine: Sendable {
    /// The state of the sequence.
    enum Phase: Sendable, Equatable {
        /// The newest exchange is followed, and may not be the last.
        case open
        /// The response is this exchange's; its end is the end.
        case settled(by: UInt64)
        /// The end has been reported.
        case ended
    }

    /// How far an exchange has come.
    private enum Course: Sendable {
        /// It may still report something.
        case underWay
        /// It has ended with this event.
        case over(HTTPEvent)
    }

    private(set) var phase = Phase.open
    /// The timings of the newest exchange, or of the one whose response was accepted, once it has ended.
    private(set) var timings = HTTPTimings()
    /// Bytes of the request's body that went out, in all exchanges that have ended.
    private(set) var sentBytes: Int64 = 0
    /// Bytes of response bodies received, in all exchanges that have ended.
    private(set) var receivedBytes: Int64 = 0
    private var newest: UInt64 = 0
    private var courses: [UInt64: Course] = [:]

    /// The number of exchanges so far.
    var exchanges: Int { courses.count }

    /// An exchange reports an event. Returns the event to pass on, if any.
    mutating func told(_ event: HTTPEvent, by exchange: UInt64) -> HTTPEvent? {
        switch event {
        case .finished(let timings), .failed(_, let timings):
            guard phase != .ended else { return nil }
            follow(exchange)
            return ended(event, timings, by: exchange)
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying:
            switch phase {
            case .open:
                follow(exchange)
                return exchange == newest ? event : nil
            case .settled(let settled): return exchange == settled ? event : nil
            case .ended: return nil
            }
        }
    }

    /// There is a response. Returns the end if it has already come.
    ///
    /// - Parameter exchange: The exchange whose response it is. If it is none of this call's, a middleware has
    ///   answered: the fate of the exchanges then says nothing about that response.
    mutating func settled(by exchange: UInt64?) -> HTTPEvent? {
        switch phase {
        case .open:
            guard let exchange, let course = courses[exchange] else {
                phase = .ended
                return .finished(timings)
            }
            switch course {
            case .underWay:
                phase = .settled(by: exchange)
                return nil
            case .over(let end):
                phase = .ended
                return end
            }
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

    /// Notes an exchange that has begun.
    private mutating func follow(_ exchange: UInt64) {
        guard courses[exchange] == nil else { return }
        courses[exchange] = .underWay
        guard phase == .open, exchange > newest else { return }
        (newest, timings) = (exchange, HTTPTimings())
    }

    /// An exchange has ended, which happens once for each, perhaps after the next one has begun.
    private mutating func ended(_ event: HTTPEvent, _ timings: HTTPTimings, by exchange: UInt64) -> HTTPEvent? {
        sentBytes += timings.sentBytes
        receivedBytes += timings.receivedBytes
        switch phase {
        case .open:
            if exchange == newest { self.timings = timings }
            if case .underWay = courses[exchange] { courses[exchange] = .over(event) }
            return nil
        case .settled(exchange):
            self.timings = timings
            phase = .ended
            return event
        case .settled, .ended: return nil
        }
    }
}
