// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkHTTP

/// What observers hear of an exchange, whoever reports it.
@Suite(.timeLimit(.minutes(1)))
struct WitnessMachineTests {
    private var machine = WitnessMachine()
    private let finished = HTTPEvent.finished(HTTPTimings())
    private let late = HTTPEvent.failed(
        HTTPClientError(.totalTimeout, phase: .body, requestDisposition: .responseStarted, message: "too late"),
        HTTPTimings())

    private func code(_ event: HTTPEvent?) -> String {
        switch event {
        case nil: "nothing"
        case .head(let status): "\(status.code)"
        case .finished: "finished"
        case .failed(let error, _): "failed \(error?.code.description ?? "")"
        default: "another"
        }
    }

    @Test mutating func aTransportThatReportsNothingIsSpokenFor() {
        #expect(code(machine.headArrived(.ok)) == "200")
        #expect(code(machine.headArrived(.ok)) == "nothing")
        #expect(code(machine.ended(finished, isCertain: false)) == "finished")
        #expect(code(machine.ended(late, isCertain: true)) == "nothing")
    }

    @Test mutating func whatTheTransportReportsIsNotSaidTwice() {
        #expect(code(machine.reported(.head(.ok))) == "200")
        #expect(code(machine.headArrived(.ok)) == "nothing")
        #expect(code(machine.ended(finished, isCertain: false)) == "nothing")  // the transport has an end of its own
        #expect(code(machine.reported(finished)) == "finished")
        #expect(code(machine.reported(late)) == "nothing")
        #expect(code(machine.headArrived(.ok)) == "nothing")
    }

    @Test mutating func aHeadThatIsReportedLateIsNotSaidTwice() {
        #expect(code(machine.headArrived(.ok)) == "200")
        #expect(code(machine.reported(.head(.ok))) == "nothing")
        #expect(code(machine.reported(finished)) == "finished")
    }

    @Test mutating func whatOnlyTheReaderKnowsIsTheEnd() {
        _ = machine.reported(.head(.ok))
        #expect(code(machine.ended(late, isCertain: true)) == "failed totalTimeout")
        #expect(code(machine.reported(finished)) == "nothing")
    }

    @Test(arguments: [true, false])
    mutating func theLimitForWhatNobodyWantsIsNoTimeout(isReported: Bool) {
        machine.declined()
        #expect(code(isReported ? machine.reported(late) : machine.ended(late, isCertain: true)) == "failed ")
    }
}
