// SPDX-License-Identifier: Apache-2.0

/// From a download's start to its one outcome: pure.
///
/// The file gets its name in the state `naming` only, which nothing leaves but the naming's own end: so an outcome that
/// says "no file" is never followed by one, and who cancels too late gets the file.
struct DownloadLife: Sendable {
    typealias Outcome = Result<DownloadedFile, any Error>

    /// Where the download stands.
    enum State: Sendable {
        /// It works.
        case running
        /// It was cancelled, or its time is over; it tidies up.
        case ending(Cause)
        /// The file is given its name.
        case naming
        /// This has come of it.
        case ended(Outcome)
    }

    /// Why a download ends before it is whole.
    enum Cause: Sendable, Equatable {
        /// Somebody has cancelled it.
        case cancelled
        /// Its deadline has passed.
        case deadline
    }

    private(set) var state = State.running

    /// What has come of it; nil while nobody knows.
    var outcome: Outcome? { if case .ended(let outcome) = state { outcome } else { nil } }

    /// Why it ends early, if it does.
    var cause: Cause? { if case .ending(let cause) = state { cause } else { nil } }

    /// It is to end. True when its work has to be cancelled.
    mutating func end(_ cause: Cause) -> Bool {
        switch state {
        case .running:
            state = .ending(cause)
            return true
        case .ending, .naming, .ended: return false
        }
    }

    /// The file is whole. True when it may have its name.
    mutating func name() -> Bool {
        switch state {
        case .running:
            state = .naming
            return true
        case .ending, .naming, .ended: return false
        }
    }

    /// The work has ended. True when there is an outcome now: this one, or that it was cancelled, whatever it has failed
    /// with meanwhile.
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

    /// The work does not end although it was cancelled. True when this is the outcome.
    mutating func abandoned(_ error: any Error) -> Bool {
        switch state {
        case .ending:
            state = .ended(.failure(error))
            return true
        case .running, .naming, .ended: return false
        }
    }
}
