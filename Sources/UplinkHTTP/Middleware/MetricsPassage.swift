// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// One request on its way through ``HTTPMetricsReporting``, until its body has ended.
final class MetricsPassage: Sendable {
    private struct State {
        var outcome = OutcomeMachine()
        var status: Int?
    }

    private let state = Locked(State())
    private let record: @Sendable (HTTPMetrics) -> Void
    private let clock: ElapsedClock
    private let start: Duration
    private let method: String
    private let origin: String

    init(of request: HTTPClientRequest, record: @escaping @Sendable (HTTPMetrics) -> Void) {
        self.record = record
        clock = request.call.clock
        start = clock.now()
        method = request.head.method.rawValue
        origin = (try? request.head.checkedURL()).map { "\($0.scheme.rawValue)://\($0.authority)" } ?? ""
    }

    func told(_ event: HTTPEvent, by exchange: UInt64) {
        report(
            state.withLock { state in
                let exchanges = state.outcome.exchanges
                let told = state.outcome.told(event, by: exchange)
                if state.outcome.exchanges > exchanges { state.status = nil }
                guard let event = told else { return nil }
                if case .head(let status) = event { state.status = status.code }
                return metrics(of: event, state)
            })
    }

    func settled(_ response: HTTPTransportResponse) {
        let teller = response.teller
        let status = response.head.status.code
        report(
            state.withLock { state in
                state.status = status
                return state.outcome.settled(by: teller).flatMap { metrics(of: $0, state) }
            })
    }

    func failed(_ error: any Error) {
        report(
            state.withLock { state in
                state.outcome.failed(error as? HTTPClientError).flatMap { metrics(of: $0, state) }
            })
    }

    private func metrics(of event: HTTPEvent, _ state: State) -> HTTPMetrics? {
        let outcome: HTTPMetrics.Outcome
        switch event.withTotal(clock.now() - start) {
        case .finished(let timings):
            outcome = state.status.map { .status($0) } ?? .abandoned
            return metrics(outcome, timings, state)
        case .failed(let error, let timings):
            outcome = error.map { .error($0.code) } ?? .abandoned
            return metrics(outcome, timings, state)
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: return nil
        }
    }

    private func metrics(_ outcome: HTTPMetrics.Outcome, _ timings: HTTPTimings, _ state: State) -> HTTPMetrics {
        var timings = timings
        (timings.sentBytes, timings.receivedBytes) = (state.outcome.sentBytes, state.outcome.receivedBytes)
        return HTTPMetrics(
            outcome: outcome, status: state.status, method: method, origin: origin,
            exchanges: state.outcome.exchanges, timings: timings)
    }

    private func report(_ metrics: HTTPMetrics?) { if let metrics { record(metrics) } }
}
