// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// Makes sure that an exchange reports a head and exactly one end, even if the transport reports nothing.
final class ExchangeWitness: Sendable {
    /// The exchange's number within its call.
    let exchange: UInt64
    private let machine = Locked(WitnessMachine())
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
    var observer: @Sendable (HTTPEvent) -> Void {
        { event in
            if let event = self.machine.withLock({ $0.reported(event) }) { self.tell(event) }
        }
    }

    /// The transport has returned a head.
    func responded(_ response: HTTPTransportResponse) {
        if let event = machine.withLock({ $0.headArrived(response.head.status) }) { tell(event) }
        switch response.body.framing {
        case .none, .length(0): end(isCertain: false) { .finished($0) }
        case .length, .chunked, .untilClose: break
        }
    }

    /// The body was read to its end.
    func bodyEnded() { end(isCertain: true) { .finished($0) } }

    /// Nobody wants the body any more, though it may still be read.
    func decline() { machine.withLock { $0.declined() } }

    /// There is no head, or no complete body.
    func failed(_ error: any Error) { end(isCertain: true) { .failed(error as? HTTPClientError, $0) } }

    /// Nobody wants the body any more. A transport that reports events reports an end of its own, with better timings.
    func abandoned() { end(isCertain: false) { .failed(nil, $0) } }

    private func end(isCertain: Bool, _ event: (HTTPTimings) -> HTTPEvent) {
        var timings = HTTPTimings()
        timings.total = clock.now() - start
        let end = event(timings)
        if let event = machine.withLock({ $0.ended(end, isCertain: isCertain) }) { tell(event) }
    }
}
