// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The events of one request, as they happen: made by the caller, passed with the request, read alongside it.
///
/// ```swift
/// let events = HTTPEvents()
/// async let page = client.get("https://example.org/", options: HTTPRequestOptions(events: events))
///     .body.collect(upTo: 1 << 20)
/// for await event in events { print(event) }
/// print(try await page.count)
/// ```
///
/// It covers the whole request, with its redirects and attempts, and ends after ``HTTPEvent/finished(_:)`` or
/// ``HTTPEvent/failed(_:_:)``; there is exactly one of these. The body is part of the request: the end comes only once
/// the body has arrived or been dropped. A short one arrives before it is read; if it cannot be decoded, that is
/// reported only to its reader. A reader of events that is too slow misses the oldest, never the last; nobody waits for
/// a reader.
///
/// Each event goes to one of its readers; usually there is one. A reader's loop ends when its task is cancelled.
public final class HTTPEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = HTTPEvent
    /// There are no errors: the request's error is an event.
    public typealias Failure = Never

    private let queue: Locked<EventQueueMachine<CheckedContinuation<Void, Never>>>

    /// Makes a sequence for one request.
    ///
    /// - Parameter maximum: The most events that are kept for a slow reader; less than one counts as one.
    public init(keeping maximum: Int = 256) { queue = Locked(EventQueueMachine(maximum: Swift.max(1, maximum))) }

    /// The number of events dropped because the reader was too slow.
    public var missed: Int { queue.withLock { $0.missed } }

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let events: HTTPEvents

        /// Returns the next event, or nil after the last one and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> HTTPEvent? {
            await events.next()
        }
    }

    /// Makes a reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }

    /// Claims the right to send events here: for one request only.
    func claim() throws(HTTPClientError) {
        guard !queue.withLock({ $0.claim() }) else { return }
        throw HTTPClientError(
            .invalidConfiguration, phase: .request,
            message: "these events belong to another request; make HTTPEvents() for each")
    }

    func send(_ event: HTTPEvent) {
        for waiter in queue.withLock({ $0.send(event) }) { waiter.resume() }
    }

    private nonisolated(nonsending) func next() async -> HTTPEvent? {
        let reader = queue.withLock { $0.enter() }
        while !Task.isCancelled {
            switch queue.withLock({ $0.take() }) {
            case .event(let event): return event
            case .end: return nil
            case .wait:
                await withTaskCancellationHandler {
                    await withCheckedContinuation { continuation in
                        let isParked = queue.withLock {
                            $0.park(reader, continuation, isCancelled: Task.isCancelled)
                        }
                        if !isParked { continuation.resume() }
                    }
                } onCancel: {
                    queue.withLock { $0.leave(reader) }?.resume()
                }
            }
        }
        return nil
    }
}
