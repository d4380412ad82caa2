// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// The stages of the syncs, and their listeners: pure.
struct StageBoard {
    typealias Listener = @Sendable (SyncStep) -> Void

    private var running: [ExactKey: (number: UInt64, step: SyncStep)] = [:]
    private var listeners: [ExactKey: [UInt64: Listener]] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { running.isEmpty && listeners.isEmpty }

    func stage(of key: ExactKey) -> SyncStage? { running[key]?.step.stage }

    /// Records that a sync has begun. One that was given up may still be unwinding; it is no longer reported.
    mutating func begin(_ key: ExactKey) -> UInt64 {
        lastNumber += 1
        running[key] = (lastNumber, SyncStep(number: lastNumber, stage: .starting))
        return lastNumber
    }

    /// Records a stage, and returns the listeners to call with it.
    mutating func reached(
        _ stage: SyncStage, _ key: ExactKey, _ number: UInt64
    ) -> (step: SyncStep, listeners: [Listener]) {
        lastNumber += 1
        let step = SyncStep(number: lastNumber, stage: stage)
        guard running[key]?.number == number else { return (step, []) }
        running[key]?.step = step
        return (step, listeners[key].map { Array($0.values) } ?? [])
    }

    mutating func end(_ key: ExactKey, _ number: UInt64) {
        if running[key]?.number == number { running[key] = nil }
    }

    mutating func listen(to key: ExactKey, _ listener: @escaping Listener) -> (id: UInt64, step: SyncStep?) {
        lastNumber += 1
        listeners[key, default: [:]][lastNumber] = listener
        return (lastNumber, running[key]?.step)
    }

    mutating func ignore(_ id: UInt64, _ key: ExactKey) {
        listeners[key]?[id] = nil
        guard listeners[key]?.isEmpty == true else { return }
        listeners[key] = nil
        running[key] = nil  // given up; it may take its time to unwind
    }
}
#endif
