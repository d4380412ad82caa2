// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// One call of a client, with all its redirects and attempts: its number, its deadline and its observers.
final class HTTPCall: Sendable {
    private struct Story {
        /// What the exchanges report.
        var outcome = OutcomeMachine()
        /// How far any exchange has got since the last redirect.
        var disposition = HTTPClientError.RequestDisposition.notSent
    }

    private static let lastID = Locked<UInt64>(0)
    private static let lastExchange = Locked<UInt64>(0)

    /// Unique among the calls of this process.
    let id: UInt64
    let options: HTTPRequestOptions
    let settings: ClientSettings
    private let start: Duration
    private let deadline: Duration?
    /// Nil if nobody can observe the call, and nothing sends a request twice.
    private let story: Locked<Story>?

    init(_ options: consuming HTTPRequestOptions, _ settings: ClientSettings) {
        id = Self.lastID.withLock { last in
            last += 1
            return last
        }
        let mayBeObserved =
            options.events != nil || options.observer != nil || options.retry != nil
            || !settings.configuration.middlewares.isEmpty
        story = mayBeObserved ? Locked(Story()) : nil
        let total = (options.timeouts ?? settings.configuration.timeouts).total
        let start = total != nil || mayBeObserved ? settings.clock.now() : .zero  // otherwise it is not needed
        self.start = start
        deadline = total.map { start + $0.clamped }
        self.settings = settings
        self.options = options
    }

    var clock: ElapsedClock { settings.clock }

    /// Whether the call may be observed, so that it is recorded which exchange reports what.
    var isFollowed: Bool { story != nil }

    /// Whether the call is observed.
    var isObserved: Bool { options.events != nil || options.observer != nil }

    /// The time left of `total`; nil without one.
    var remaining: Duration? { deadline.map { max(.zero, $0 - clock.now()) } }

    /// Returns a number for the next exchange, greater than all before. It is unique across calls, because a middleware
    /// may have kept another call's response.
    func nextExchange() -> UInt64 {
        Self.lastExchange.withLock { last in
            last += 1
            return last
        }
    }

    // MARK: What has happened to the request

    /// How far any exchange has got since the last redirect: an error that a request was not sent is not the whole
    /// truth if a middleware had sent it before.
    var disposition: HTTPClientError.RequestDisposition { story?.withLock { $0.disposition } ?? .notSent }

    /// An exchange has got as far as this.
    func reached(_ disposition: HTTPClientError.RequestDisposition) {
        story?.withLock { $0.disposition = $0.disposition.farthest(disposition) }
    }

    /// The error for a request that there is no time for.
    var totalPassed: HTTPClientError { .totalPassed.following(disposition) }

    // MARK: Reporting events

    /// A redirect is followed: another request begins.
    func redirected(to url: String) {
        story?.withLock { $0.disposition = .notSent }
        tell(.redirected(to: url))
    }

    /// An exchange reports an event.
    func told(_ event: HTTPEvent, by exchange: UInt64) {
        if let event = story?.withLock({ $0.outcome.told(event, by: exchange) }) { send(event) }
    }

    /// The client itself does something.
    func tell(_ event: HTTPEvent) {
        if let story, story.withLock({ $0.outcome.phase != .ended }) { send(event) }
    }

    /// This exchange's response is about to be given to the caller; its body may still arrive.
    func settled(by exchange: UInt64?) {
        if let event = story?.withLock({ $0.outcome.settled(by: exchange) }) { send(event) }
    }

    /// There is no response.
    func failed(_ error: any Error) {
        if let event = story?.withLock({ $0.outcome.failed(error as? HTTPClientError) }) { send(event) }
    }

    private func send(_ event: HTTPEvent) {
        guard isObserved else { return }
        let event = event.withTotal(clock.now() - start)
        options.events?.send(event)
        options.observer?(event)
    }
}

extension HTTPEvent {
    /// Returns the event with its total time counted from where the reporter began.
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
