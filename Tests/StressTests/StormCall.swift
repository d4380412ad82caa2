// SPDX-License-Identifier: Apache-2.0
import Uplink

/// What became of the calls of a storm.
struct StormTally: Sendable {
    let maximumRunning: Int?
    var outcomes: [String: Int] = [:]
    var broken: [String] = []
    /// How many operations run now that hold a slot of their own.
    var running = 0
    /// How many calls ran their operation more than once.
    var repeated = 0

    init(maximumRunning: Int?) { self.maximumRunning = maximumRunning }

    mutating func begin() {
        running += 1
        if let maximumRunning, running > maximumRunning { broken.append("\(running) ran at once") }
    }
}

/// One call of a storm, of a random form: it counts how often the operation ran, and compares that with the outcome.
struct StormCall: Sendable {
    private enum Form: CaseIterable {
        case waiting, supervised, cancelledOnLoss, retried, stable, nested, handle
    }

    private struct Own: Error {}

    private static let maximumAttempts = 3

    private let performer: NetworkOperationPerformer
    private let loop: EventLoop
    private let tally: Locked<StormTally>
    private let form: Form
    private let limit: Duration
    private let fails: Bool
    private let runs = Locked(0)

    init(
        _ performer: NetworkOperationPerformer, _ loop: EventLoop, _ tally: Locked<StormTally>,
        _ random: inout SeededGenerator
    ) {
        (self.performer, self.loop, self.tally) = (performer, loop, tally)
        form = Form.allCases.randomElement(using: &random) ?? .waiting
        limit = .microseconds(Int.random(in: -50..<2000, using: &random))
        fails = Int.random(in: 0..<4, using: &random) == 0
    }

    func run(_ random: inout SeededGenerator) async {
        let isCancelled = Int.random(in: 0..<3, using: &random) == 0
        let delay = Int.random(in: 0..<5, using: &random)
        let result: Result<Void, any Error>
        if form == .handle {
            let handle = performer.start(within: limit) { try await operation() }
            if isCancelled {
                for _ in 0..<delay { await Task.yield() }
                handle.cancel()
            }
            do { result = .success(try await handle.value) } catch { result = .failure(error) }
        } else {
            let task = Task(executorPreference: Bool.random(using: &random) ? loop : nil) { try await perform() }
            if isCancelled {
                for _ in 0..<delay { await Task.yield() }
                task.cancel()
            }
            result = await task.result
        }
        judge(result)
    }

    private func perform() async throws {
        switch form {
        case .waiting, .handle: try await performer.perform(within: limit) { try await operation() }
        case .supervised: try await performer.perform(completingWithin: limit) { try await operation() }
        case .cancelledOnLoss:
            try await performer.perform(completingWithin: limit, onLoss: .cancel) { try await operation() }
        case .retried:
            let policy = RetryPolicy(
                maximumAttempts: Self.maximumAttempts, initialPause: .microseconds(50),
                isNetworkFailure: { $0 is Own })
            // Time for a second run, also where there is a queue for slots.
            let limit = limit + .milliseconds(20)
            try await performer.perform(completingWithin: limit, onLoss: .retry(policy)) { try await operation() }
        case .stable:
            try await performer.perform(within: limit, requiring: .internet.and(.stable(for: .microseconds(20)))) {
                try await operation()
            }
        case .nested:
            try await performer.perform(within: limit) {
                // The inner call needs no slot of its own: with one it could wait for ever for those that wait so too.
                let inner: Result<Void, PerformFailure<any Error>> = await performer.perform(
                    withinSeconds: 0.0005, requiring: .internet
                ) { await Task.yield() }
                if case .failure(.notStarted(let error)) = inner, error.missing == .slot {
                    tally.withLock { $0.broken.append("a nested call lacked a slot") }
                }
                try await operation()
            }
        }
    }

    private func operation() async throws {
        runs.withLock { $0 += 1 }
        tally.withLock { $0.begin() }
        defer { tally.withLock { $0.running -= 1 } }
        for _ in 0..<5 {
            if form != .waiting { try Task.checkCancellation() }
            await Task.yield()
        }
        if fails { throw Own() }
    }

    private func judge(_ result: Result<Void, any Error>) {
        let count = runs.withLock { $0 }
        let most = form == .retried ? Self.maximumAttempts : 1
        let outcome: String
        let expected: ClosedRange<Int>
        switch result {
        case .success: (outcome, expected) = ("value", 1...most)
        case .failure(let error as NetworkOperationError):
            outcome = error.code.description
            expected = [.deadlineExceeded, .networkLost].contains(error.code) ? 1...most : 0...0
        // The operation may have thrown it: all but one form look whether they are cancelled.
        case .failure(is CancellationError): (outcome, expected) = ("cancelled", form == .waiting ? 0...0 : 0...most)
        case .failure(is Own): (outcome, expected) = ("own", 1...most)
        case .failure(let error): (outcome, expected) = ("\(error)", 0...0)
        }
        tally.withLock { tally in
            tally.outcomes[outcome, default: 0] += 1
            if count > 1 { tally.repeated += 1 }
            if !expected.contains(count) { tally.broken.append("\(form) \(outcome), but ran \(count) times") }
        }
    }
}
