// SPDX-License-Identifier: Apache-2.0

@testable import UplinkHTTP

/// A request that is sent again: `RetryMachine` with a network and a server that are models. The server counts what it
/// has carried out, and a lost answer does not say whether it has.
final class RetryWorld: World {
    let dice: Dice
    private let policy: HTTPRetryPolicy
    private let isIdempotent: Bool
    private let isReplayable: Bool
    private let total: Duration?
    private var machine: RetryMachine
    private var now = Duration.zero
    /// When the pause is over.
    private var wakesAt: Duration?
    private var (sent, carriedOut, paused) = (0, 0, Duration.zero)
    private var isOver = false

    init(_ dice: Dice) {
        self.dice = dice
        var policy = HTTPRetryPolicy()
        policy.maximumAttempts = 1 + dice.roll(6)
        policy.initialPause = .milliseconds(dice.pick([0, 1, 250]))
        policy.maximumPause = .milliseconds(dice.pick([0, 100, 2000]))
        policy.maximumRetryAfter = .seconds(dice.pick([0, 10]))
        self.policy = policy
        (isIdempotent, isReplayable) = (dice.isOne(in: 2), !dice.isOne(in: 4))
        total = dice.isOne(in: 3) ? .milliseconds(dice.roll(3000)) : nil
        machine = RetryMachine(policy, isIdempotent: isIdempotent)
    }

    private var remaining: Duration? { total.map { max(.zero, $0 - now) } }

    // MARK: What happens

    func step() throws {
        guard !isOver else { return try checkNothingMoves() }
        if let wakesAt {
            now = wakesAt
            self.wakesAt = nil
            machine.paused()
        } else {
            now += .milliseconds(dice.roll(200))
            try attempt()
        }
    }

    private func attempt() throws {
        sent += 1
        try hold(machine.attempts == sent, "\(machine.attempts) attempts are counted, and there were \(sent)")
        let outcome: RetryMachine.Outcome
        var (isBodySpent, mayHelp) = (false, true)
        var asked: Duration?
        switch dice.roll(5) {
        case 0: outcome = .failure(isNetworkFailure: true, .notSent)
        case 1:
            mayHelp = false  // as a certificate that is not trusted
            outcome = .failure(isNetworkFailure: false, dice.pick([.notSent, .maybeProcessed]))
        case 2:
            if dice.isOne(in: 2) { carriedOut += 1 }
            isBodySpent = !isReplayable
            outcome = .failure(isNetworkFailure: true, dice.pick([.maybeProcessed, .responseStarted]))
        default:
            let status = dice.pick([200, 404, 500, 408, 429, 503])
            if status != 429 { carriedOut += 1 }
            isBodySpent = !isReplayable
            mayHelp = policy.statuses.contains(status)
            asked = dice.isOne(in: 2) ? .milliseconds(dice.pick([0, 700, 9000, 60_000])) : nil
            outcome = .answer(status: status, retryAfter: asked)
        }
        dice.tell("attempt \(sent) ends with \(outcome)")
        let action = machine.ended(outcome, hasBody: !isBodySpent, remaining: remaining, random: 1)
        let isSafe = if case .failure(_, .notSent) = outcome { true } else { isIdempotent }
        let pause = asked ?? backOff
        let isBearable = asked ?? .zero <= policy.maximumRetryAfter && pause < remaining ?? .seconds(100_000)
        let isDue = isSafe && mayHelp && !isBodySpent && sent < policy.maximumAttempts && isBearable
        switch action {
        case .settle:
            try hold(!isDue, "gives up after \(sent) of \(policy.maximumAttempts), and could go on")
            isOver = true
        case .retry(let after):
            dice.tell("pauses for \(after)")
            try hold(isDue, "sends again what it must not")
            try hold(after == pause, "pauses for \(after), not \(pause)")
            wakesAt = now + after
            paused += after
        }
        try hold(machine.waited == paused, "\(machine.waited) are counted, and \(paused) were waited")
    }

    /// With the worst of luck the pause is as long as it may be: doubled with each attempt, up to the most.
    private var backOff: Duration {
        var pause = policy.initialPause
        for _ in 1..<sent { pause *= 2 }
        return min(pause, policy.maximumPause)
    }

    private func checkNothingMoves() throws {
        machine.paused()
        let action = machine.ended(
            .failure(isNetworkFailure: true, .notSent), hasBody: true, remaining: nil, random: 0)
        try hold(action == .settle && machine.phase == .settled, "goes on after its end")
    }

    // MARK: What holds

    func check() throws {
        try hold(sent <= policy.maximumAttempts, "is sent \(sent) times")
        try hold(isIdempotent || carriedOut <= 1, "is carried out \(carriedOut) times")
        if let total, let wakesAt { try hold(wakesAt <= total, "pauses beyond its time") }
    }

    func end() throws {
        for _ in 0..<20 where !isOver { try step() }
        try hold(isOver, "never ends")
    }
}
