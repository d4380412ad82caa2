// SPDX-License-Identifier: Apache-2.0

/// The life of a download, from its start to its one outcome: pure.
///
/// The file gets its name only in the state `naming`, which only the end of the naming leaves. So no file ever appears
/// after an outcome that says there is none, and a caller that cancels too late gets the file.
struct DownloadLife: Sendable {
    typealias Outcome = Result<DownloadedFile, any Error>

    /// The state of the download.
    enum State: Sendable {
        /// It is working.
        case running
        /// It was cancelled, or its time ran out; it is cleaning up.
        case ending(Cause)
        /// The file is being given its name.
        case naming
        /// It has ended, with this outcome.
        case ended(Outcome)
    }

    /// Why a download ends early.
    enum Cause: Sendable, Equatable {
        /// It was cancelled.
        case cancelled
        /// Its deadline has passed.
        case deadline
    }

    private(set) var state = State.running

    /// The outcome; nil until there is one.
    var outcome: Outcome? { if case .ended(let outcome) = state { outcome } else { nil } }

    /// Why it ends early, if it does.
    var cause: Cause? { if case .ending(let cause) = state { cause } else { nil } }

    /// Makes it end. True when its work has to be cancelled.
    mutating func end(_ cause: Cause) -> Bool {
        switch state {
        case .running:
            state = .ending(cause)
            return true
        case .ending, .naming, .ended: return false
        }
    }

    /// Called when the file is whole. True when it may have its name.
    mutating func name() -> Bool {
        switch state {
        case .running:
            state = .naming
            return true
        case .ending, .naming, .ended: return false
        }
    }

    /// Called when the work has ended. True when there is an outcome now: this one, or that it was cancelled, whatever
    /// it failed with meanwhile.
    mutating func ended(_ outcome: Outcome) -> Bool {
        switch state {
        case .ending(.cancelled):
            if case .failure = outcome {
                state = .ended(.failure(CancellationError()))
            } else {
                state = .ended(outcome)
            }
            return true
        case .running, .ending(.deadline), .naming:
            state = .ended(outcome)
            return true
        case .ended: return false
        }
    }

    /// Called when the work does not end although it was cancelled. True when this error is the outcome.
    mutating func abandoned(_ error: any Error) -> Bool {
        switch state {
        case .ending:
            state = .ended(.failure(error))
            return true
        case .running, .naming, .ended: return false
        }
    }
}
