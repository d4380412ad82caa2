// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The newest value, and the readers that wait for a newer one. Every method may be called from any thread.
///
/// A reader keeps the number of what it has seen, so that the board keeps nothing for one that is slow or gone. A value
/// is made only when it is read.
final class UpdateBoard<Value: Sendable>: Sendable {
    private struct State {
        var value: @Sendable () -> Value
        var number: UInt64 = 0
        var isFinished = false
        var lastReader: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]

        mutating func wakeAll() -> [CheckedContinuation<Void, Never>] {
            defer { waiters.removeAll() }
            return Array(waiters.values)
        }
    }

    /// What a reader finds.
    enum Finding: Sendable {
        /// A value it has not seen, and its number.
        case value(Value, number: UInt64)
        /// There will be no more.
        case end
        /// Nothing yet.
        case nothing
    }

    private let state: Locked<State>

    init(_ value: @autoclosure @escaping @Sendable () -> Value) { state = Locked(State(value: value)) }

    /// Publishes a value, unless a newer one has overtaken it. The one that `finishes` the board is always the last.
    ///
    /// - Parameters:
    ///   - value: Evaluated each time it is read, and may be newer by then.
    ///   - number: A number that rises with each value, from 1 on.
    func post(
        _ value: @autoclosure @escaping @Sendable () -> Value, number: UInt64, finishes: Bool = false
    ) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard !state.isFinished, finishes || number > state.number else { return [] }
            (state.value, state.number) = (value, max(number, state.number + 1))
            state.isFinished = finishes
            return state.wakeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The newest value, if its number is above `number` or the reader has seen nothing yet.
    func look(after number: UInt64?) -> Finding {
        let (newest, value, isFinished) = state.withLock { ($0.number, $0.value, $0.isFinished) }
        if number.map({ newest > $0 }) ?? true { return .value(value(), number: newest) }
        return isFinished ? .end : .nothing
    }

    /// Returns when there is something above `number`, or the end, or when the task is cancelled.
    private func wait(after number: UInt64) async {
        let reader = state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // The cancellation handler may have run by now, and found no one waiting.
                    guard state.number <= number, !state.isFinished, !Task.isCancelled else { return true }
                    state.waiters[reader] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: reader) }?.resume()
        }
    }

    /// The next value for a reader; nil at the end, and when the task is cancelled.
    func next(after number: inout UInt64?) async -> Value? {
        while !Task.isCancelled {
            switch look(after: number) {
            case .value(let value, let newest):
                number = newest
                return value
            case .end: return nil
            case .nothing: await wait(after: number ?? 0)
            }
        }
        return nil
    }
}
