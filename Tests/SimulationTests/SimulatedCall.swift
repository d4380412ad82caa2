// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// A call of the performer in a ``PerformerWorld``, and what became of it.
final class SimulatedCall: CustomStringConvertible, @unchecked Sendable {  // one thread runs all jobs of its world
    enum Form: CaseIterable {
        case waiting, nested, supervised, cancelledOnLoss, retried

        var isSupervised: Bool {
            switch self {
            case .waiting, .nested: false
            case .supervised, .cancelledOnLoss, .retried: true
            }
        }
    }

    /// An operation's own error.
    struct Own: Error {}

    static let maximumAttempts = 3

    let number: Int
    let form: Form
    let need: Need
    let limit: Duration
    let duration: Duration
    let fails: Bool
    let ignoresCancellation: Bool
    var task: Task<Void, Never>?
    var madeAt = Duration.zero
    /// It found the network there, and needs nothing else.
    var couldStartAtOnce = false
    var isCancelled = false
    var runs = 0
    private(set) var isOver = false

    init(number: Int, _ dice: Dice) {
        self.number = number
        form = dice.pick(Form.allCases)
        need = dice.pick(Need.allCases)
        limit = dice.pick([-1, 0, 3, 10, 10, 50, 200].map { .milliseconds($0) } + [.seconds(Int64.max)])
        duration = .milliseconds(dice.roll(20))
        fails = dice.isOne(in: 4)
        ignoresCancellation = dice.isOne(in: 3)
    }

    var description: String { "call \(number) (\(form), \(need), within \(limit))" }

    /// Takes the outcome, and returns what is wrong with it.
    func judge(_ result: Result<Void, any Error>, now: Duration) -> [String] {
        let expected: ClosedRange<Int>
        var isTimedOut = false
        switch result {
        case .success: expected = 1...most
        case .failure(let error as NetworkOperationError):
            isTimedOut = error.code == .timedOut
            expected = [.deadlineExceeded, .networkLost].contains(error.code) ? 1...most : 0...0
        // The operation may have thrown it as well.
        case .failure(is CancellationError): expected = 0...most
        case .failure: expected = 1...most
        }
        defer { isOver = true }
        return [
            isOver ? "\(self) ended twice" : nil,
            expected.contains(runs) ? nil : "\(self) ran \(runs) times, and ended with \(result)",
            isTimedOut && now < madeAt + max(limit, .zero) ? "\(self) timed out too early" : nil,
            isTimedOut && couldStartAtOnce ? "\(self) timed out though the network was there" : nil,
        ].compactMap { $0 }
    }

    private var most: Int { form == .retried ? Self.maximumAttempts : 1 }
}
