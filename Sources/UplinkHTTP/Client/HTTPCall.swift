// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// One call of a client, with all its redirects and attempts: its number, its deadline, and who is told about it.
final class HTTPCall: Sendable {
    private static let lastID = Locked<UInt64>(0)
    private static let lastExchange = Locked<UInt64>(0)

    /// Unlike that of any other call in this process.
    let id: UInt64
    let options: HTTPRequestOptions
    let settings: ClientSettings
    private let start: Duration
    private let deadline: Duration?
    /// What the call's exchanges tell; nil where nobody can want to know.
    private let story: Locked<OutcomeMachine>?

    init(_ options: consuming HTTPRequestOptions, _ settings: ClientSettings) {
        id = Self.lastID.withLock { last in
            last += 1
            return last
        }
        let mayBeObserved =
            options.events != nil || options.observer != nil || options.retry != nil
            || !settings.configuration.middlewares.isEmpty
        story = mayBeObserved ? Locked(OutcomeMachine()) : nil
        let total = (options.timeouts ?? settings.configuration.timeouts).total
        let start = total != nil || mayBeObserved ? settings.clock.now() : .zero  // or nobody asks
        self.start = start
        deadline = total.map { start + $0.clamped }
        self.settings = settings
        self.options = options
    }

    var clock: HTTPClientClock { settings.clock }

    /// Whether anybody may want to know, and it is noted who tells what.
    var isFollowed: Bool { story != nil }

    /// Whether anybody wants to know.
    var isObserved: Bool { options.events != nil || options.observer != nil }

    /// What is left of `total`; nil without one.
    var remaining: Duration? { deadline.map { max(.zero, $0 - clock.now()) } }

    /// A number for the next exchange, above all before. No other call has it, whose answer a middleware may have kept.
    func nextExchange() -> UInt64 {
        Self.lastExchange.withLock { last in
            last += 1
            return last
        }
    }

    // MARK: Telling

    /// An exchange tells something.
    func told(_ event: HTTPEvent, by exchange: UInt64) {
        if let event = story?.withLock({ $0.told(event, by: exchange) }) { send(event) }
    }

    /// The client does something of its own.
    func tell(_ event: HTTPEvent) {
        if let story, story.withLock({ $0.phase != .ended }) { send(event) }
    }

    /// This exchange's answer is about to be given to the caller; its body may still arrive.
    func settled(by exchange: UInt64?) {
        if let event = story?.withLock({ $0.settled(by: exchange) }) { send(event) }
    }

    /// There is no answer.
    func failed(_ error: any Error) {
        if let event = story?.withLock({ $0.failed(error as? HTTPClientError) }) { send(event) }
    }

    private func send(_ event: HTTPEvent) {
        guard isObserved else { return }
        let event = event.withTotal(clock.now() - start)
        options.events?.send(event)
        options.observer?(event)
    }
}

extension HTTPEvent {
    /// The event, its time counted from where the teller began.
    func withTotal(_ total: Duration) -> Self {
        switch self {
        case .finished(var timings):
            timings.total = total
            return .finished(timings)
        case .failed(let error, var timings):
            timings.total = total
            return .failed(error, timings)
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: return self
        }
    }
}
