// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Uplink

/// A performer under many calls, and how many of their operations run.
struct StormPerformer: Sendable {
    let performer: NetworkOperationPerformer
    let loop: EventLoop
    let record: StormRecord
    let maximumRunning: Int?
    /// How many operations run now that hold a slot of their own.
    private let running = Locked(0)

    init(_ performer: NetworkOperationPerformer, on loop: EventLoop, _ record: StormRecord, maximumRunning: Int?) {
        (self.performer, self.loop, self.record, self.maximumRunning) = (performer, loop, record, maximumRunning)
    }

    fileprivate func begin() {
        let count = running.withLock { running in
            running += 1
            return running
        }
        if let maximumRunning { record.expect(count <= maximumRunning, "\(count) ran at once") }
    }

    fileprivate func end() { running.withLock { $0 -= 1 } }

    /// Makes many calls from many tasks, and checks that nothing is left of them.
    func storm(
        callers: Int, rounds: Int, within limits: Range<Int>, _ random: inout SeededGenerator
    ) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<callers {
                let start = random.fork()
                group.addTask {
                    var random = start
                    for _ in 0..<rounds { await StormCall(self, within: limits, &random).run(&random) }
                }
            }
        }
        record.expect(performer.census == PerformerCensus(), "left of the performer: \(performer.census)")
        record.expect(running.withLock { $0 } == 0, "operations still run")
    }
}

/// One call of a storm, of a random form: it counts how often the operation ran, and compares that with the outcome.
struct StormCall: Sendable {
    private enum Form: CaseIterable {
        case waiting, supervised, cancelledOnLoss, retried, stable, nested, handle
    }

    private struct Own: Error {}

    private static let maximumAttempts = 3

    private let target: StormPerformer
    private let form: Form
    private let limit: Duration
    private let fails: Bool
    private let runs = Locked(0)

    private var performer: NetworkOperationPerformer { target.performer }

    /// - Parameter limits: In microseconds.
    init(_ target: StormPerformer, within limits: Range<Int>, _ random: inout SeededGenerator) {
        self.target = target
        form = Form.allCases.randomElement(using: &random) ?? .waiting
        limit = .microseconds(Int.random(in: limits, using: &random))
        fails = random.oneIn(4)
    }

    func run(_ random: inout SeededGenerator) async {
        let isCancelled = random.oneIn(3)
        let delay = Int.random(in: 0..<5, using: &random)
        target.record.begin()
        let result: Result<Void, any Error>
        if form == .handle {
            let handle = performer.start(within: limit) { try await operation() }
            if isCancelled {
                for _ in 0..<delay { await Task.yield() }
                handle.cancel()
            }
            do { result = .success(try await handle.value) } catch { result = .failure(error) }
        } else {
            let task = Task(executorPreference: Bool.random(using: &random) ? target.loop : nil) { try await perform() }
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
                    target.record.broken("a nested call lacked a slot")
                }
                try await operation()
            }
        }
    }

    private func operation() async throws {
        runs.withLock { $0 += 1 }
        target.begin()
        defer { target.end() }
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
        case .failure(let error):
            (outcome, expected) = ("unexpected", 0...most)
            target.record.broken("\(form): \(error)")
        }
        target.record.expect(expected.contains(count), "\(form) \(outcome), but ran \(count) times")
        target.record.expect(outcome != "monitorFailed", "\(form): the monitor failed")
        // An outcome of its own for those that ran again: it shows that there were some.
        target.record.end(count > 1 ? "ran again" : outcome)
    }
}
