// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// Makes sure that an exchange reports a head and exactly one end, even if the transport reports nothing.
final class ExchangeWitness: Sendable {
    private struct Testimony {
        /// The transport has reported something, so it will also report the end.
        var isGiven = false
        var hasHead = false
        var hasEnd = false
        /// Nobody wants the body.
        var isDeclined = false

        /// Returns the event as observers hear it: the limit for reading what nobody wants is no timeout of theirs.
        func seen(_ event: HTTPEvent) -> HTTPEvent {
            guard isDeclined, case .failed(let error?, let timings) = event, error.code == .totalTimeout else {
                return event
            }
            return .failed(nil, timings)
        }
    }

    /// The exchange's number within its call.
    let exchange: UInt64
    private let testimony = Locked(Testimony())
    private let clock: ElapsedClock
    private let start: Duration
    private let tell: @Sendable (HTTPEvent) -> Void

    init(of exchange: UInt64, clock: ElapsedClock, tell: @escaping @Sendable (HTTPEvent) -> Void) {
        self.exchange = exchange
        self.clock = clock
        self.tell = tell
        start = clock.now()
    }

    /// Passed to the transport to report events.
    var observer: @Sendable (HTTPEvent) -> Void { { self.told($0) } }

    private func told(_ event: HTTPEvent) {
        let news: HTTPEvent? = testimony.withLock { testimony in
            testimony.isGiven = true
            guard !testimony.hasEnd else { return nil }
            if case .head = event { testimony.hasHead = true }
            testimony.hasEnd = event.isLast
            return testimony.seen(event)
        }
        if let news { tell(news) }
    }

    /// The transport has returned a head.
    func responded(_ response: HTTPTransportResponse) {
        let isNews = testimony.withLock { testimony in
            defer { testimony.hasHead = true }
            return !testimony.hasHead && !testimony.hasEnd
        }
        if isNews { tell(.head(response.head.status)) }
        switch response.body.framing {
        case .none, .length(0): end(evenIfTold: false) { .finished($0) }
        case .length, .chunked, .untilClose: break
        }
    }

    /// The body was read to its end, which a transport that reports events has reported before.
    func bodyEnded() { end(evenIfTold: true) { .finished($0) } }

    /// Nobody wants the body any more, though it may still be read.
    func decline() { testimony.withLock { $0.isDeclined = true } }

    /// There is no head, or no complete body.
    func failed(_ error: any Error) { end(evenIfTold: true) { .failed(error as? HTTPClientError, $0) } }

    /// Nobody wants the body any more. A transport that reports events reports an end of its own, with better timings.
    func abandoned() { end(evenIfTold: false) { .failed(nil, $0) } }

    private func end(evenIfTold: Bool, _ event: (HTTPTimings) -> HTTPEvent) {
        let isNews = testimony.withLock { testimony in
            guard !testimony.hasEnd, evenIfTold || !testimony.isGiven else { return false }
            testimony.hasEnd = true
            return true
        }
        guard isNews else { return }
        var timings = HTTPTimings()
        timings.total = clock.now() - start
        tell(testimony.withLock { [timings] in $0.seen(event(timings)) })
    }
}

extension HTTPTransportResponse {
    /// The exchange whose end is the response's end: the one that brought it, or that of its body if a middleware
    /// assembled the response. Nil if nothing of it came from a server.
    var teller: UInt64? { exchange ?? (body.handle.source as? WitnessedSource)?.exchange }
}

/// A body's source with a witness, whose errors include the number of attempts.
final class WitnessedSource: HTTPBodySource {
    private let reader: BodyReader
    private let witness: ExchangeWitness?
    private let complete: @Sendable (HTTPClientError) -> HTTPClientError
    var exchange: UInt64? { witness?.exchange }

    init(
        _ reader: BodyReader, witness: ExchangeWitness?,
        completing complete: @escaping @Sendable (HTTPClientError) -> HTTPClientError
    ) {
        self.reader = reader
        self.witness = witness
        self.complete = complete
    }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        do {
            let chunk = try await reader.source.next()
            if chunk == nil { witness?.bodyEnded() }
            return chunk
        } catch let error as HTTPClientError {
            let error = complete(error)
            witness?.failed(error)
            throw error
        } catch {
            witness?.failed(error)
            throw error
        }
    }

    func cancel() {
        reader.source.cancel()
        witness?.abandoned()
    }

    func fail(_ error: HTTPClientError) -> HTTPClientError {
        let error = complete(error)
        witness?.failed(error)
        reader.source.cancel()
        return error
    }

    func limit(toRemaining total: Duration) { reader.source.limit(toRemaining: total) }

    func decline() { witness?.decline() }

    var heedsLimit: Bool { reader.source.heedsLimit }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await reader.source.performBlocking(work)
    }

    var trailerFields: HTTPFields? { reader.source.trailerFields }
}
