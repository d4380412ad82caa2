// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct RetryMachineTests {
    private typealias Outcome = RetryMachine.Outcome

    private func machine(idempotent: Bool = true, _ policy: HTTPRetryPolicy = .init()) -> RetryMachine {
        RetryMachine(policy, isIdempotent: idempotent)
    }

    private func retries(
        _ machine: RetryMachine, after outcome: RetryMachine.Outcome, hasBody: Bool = true
    ) -> Bool {
        var machine = machine
        return machine.ended(outcome, hasBody: hasBody, remaining: nil, random: 0) != .settle
    }

    @Test func whatWasNotSentIsSentAgainWhateverItsMethod() {
        #expect(retries(machine(idempotent: false), after: .failure(isNetworkFailure: true, .notSent)))
        #expect(!retries(machine(), after: .failure(isNetworkFailure: true, .notSent), hasBody: false))
    }

    @Test(arguments: [HTTPClientError.RequestDisposition.maybeProcessed, .responseStarted])
    func whatMayHaveBeenProcessedMustBeIdempotent(_ disposition: HTTPClientError.RequestDisposition) {
        #expect(retries(machine(), after: .failure(isNetworkFailure: true, disposition)))
        #expect(!retries(machine(idempotent: false), after: .failure(isNetworkFailure: true, disposition)))
        #expect(!retries(machine(), after: .failure(isNetworkFailure: true, disposition), hasBody: false))
    }

    @Test(arguments: [HTTPClientError.RequestDisposition.notSent, .maybeProcessed, .responseStarted])
    func otherErrorsStay(_ disposition: HTTPClientError.RequestDisposition) {
        #expect(!retries(machine(), after: .failure(isNetworkFailure: false, disposition)))
    }

    @Test func certificatesAreNotTheNetworksDoing() {
        for code: HTTPClientError.Code in [
            .certificateExpired, .certificateNotYetValid, .certificateHostMismatch, .certificateSelfSigned,
            .certificateUntrusted, .certificateWrongPurpose, .tlsFailed, .totalTimeout, .closed, .queueFull,
        ] { #expect(!code.isNetworkFailure, "\(code)") }
    }

    @Test func someStatusesAskForAnotherAttempt() {
        let statuses = (100...599).filter { retries(machine(), after: .answer(status: $0, retryAfter: nil)) }
        #expect(statuses == [408, 425, 429, 502, 503, 504])
        #expect(!retries(machine(idempotent: false), after: .answer(status: 503, retryAfter: nil)))
        #expect(!retries(machine(), after: .answer(status: 503, retryAfter: nil), hasBody: false))
        var policy = HTTPRetryPolicy()
        policy.statuses = [500]
        #expect(retries(machine(policy), after: .answer(status: 500, retryAfter: nil)))
        #expect(!retries(machine(policy), after: .answer(status: 503, retryAfter: nil)))
    }

    @Test func pausesDoubleUpToTheirMaximumAndChanceShortensThem() {
        var policy = HTTPRetryPolicy()
        policy.maximumAttempts = 7
        policy.initialPause = .seconds(1)
        policy.maximumPause = .seconds(5)
        var pauses: [RetryMachine.Action] = []
        var machine = machine(policy)
        for random in [1, 1, 0.5, 1, Double.nan, -3] {
            pauses.append(
                machine.ended(.failure(isNetworkFailure: true, .notSent), hasBody: true, remaining: nil, random: random)
            )
            machine.paused()
        }
        #expect(pauses == [1, 2, 2, 5, 5, 0].map { .retry(after: .seconds($0)) })
        #expect(machine.attempts == 7)
        #expect(machine.waited == .seconds(15))
        #expect(
            machine.ended(.failure(isNetworkFailure: true, .notSent), hasBody: true, remaining: nil, random: 0)
                == .settle)
        #expect(machine.phase == .settled)
    }

    @Test func hugePausesDoNotTrap() {
        var policy = HTTPRetryPolicy()
        policy.maximumAttempts = .max
        for longest in [Duration.seconds(Int64.max), Duration(attoseconds: .max)] {
            (policy.initialPause, policy.maximumPause, policy.maximumRetryAfter) = (longest, longest, longest)
            for retryAfter in [nil, longest] {
                var machine = machine(policy)
                for _ in 0..<100 {
                    let outcome = Outcome.answer(status: 503, retryAfter: retryAfter)
                    let action = machine.ended(outcome, hasBody: true, remaining: nil, random: 1)
                    guard case .retry(let pause) = action else { break }
                    #expect(pause > .seconds(9_223_372_000) && pause < .seconds(9_223_373_000))
                    machine.paused()
                }
                #expect(machine.attempts == 101)
            }
        }
    }

    @Test func aServersWishIsFollowedUpToAMaximum() {
        var first = machine()
        #expect(
            first.ended(.answer(status: 503, retryAfter: .seconds(60)), hasBody: true, remaining: nil, random: 0)
                == .retry(after: .seconds(60)))
        var second = machine()
        #expect(
            second.ended(.answer(status: 503, retryAfter: .seconds(61)), hasBody: true, remaining: nil, random: 0)
                == .settle)
    }

    @Test func aPauseThatTheTotalCutsShortIsNotMade() {
        var first = machine()
        #expect(
            first.ended(.answer(status: 429, retryAfter: .seconds(5)), hasBody: true, remaining: .seconds(5), random: 0)
                == .settle)
        var second = machine()
        #expect(
            second.ended(
                .answer(status: 429, retryAfter: .seconds(5)), hasBody: true, remaining: .milliseconds(5001), random: 0)
                == .retry(after: .seconds(5)))
    }

    @Test func nothingHappensTwice() {
        var machine = machine()
        #expect(
            machine.ended(.answer(status: 200, retryAfter: nil), hasBody: true, remaining: nil, random: 0) == .settle)
        #expect(
            machine.ended(.failure(isNetworkFailure: true, .notSent), hasBody: true, remaining: nil, random: 0)
                == .settle)
        machine.paused()
        #expect(machine.attempts == 1)
    }
}
