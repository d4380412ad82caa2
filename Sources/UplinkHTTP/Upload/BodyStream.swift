// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Runs work that may block on the default pool, for a body that has no loop: the caller may prefer one.
func offLoops<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Task.detached { try work() }.value
}

/// A body that is produced while it is sent.
package struct BodyStream: Sendable {
    /// How many bytes there will be, if that is known without looking.
    let length: Int64?
    /// Whether it can be produced again.
    let isReplayable: Bool
    /// Whether it has been produced and cannot be produced again.
    let isSpent: @Sendable () -> Bool
    /// Looks up what has to be known before the head is sent.
    let prepare: @Sendable (any BlockingWork) async throws -> BodyProduction

    /// Makes a stream of pieces that other code produces, foreign code unless it is said to be our own.
    static func pieces(
        length: Int64?, isReplayable: Bool, isOwn: Bool = false,
        _ run: @escaping @Sendable (BodySink) async throws -> Void
    ) -> Self {
        let state = Locked(Production.unused)
        let iterations = BodyIterations()
        return Self(
            length: length, isReplayable: isReplayable, isSpent: { !isReplayable && state.withLock { $0 } == .begun }
        ) { _ in
            BodyProduction(length: length, runsForeignCode: !isOwn) { sink in
                // What is abandoned before it begins can still be sent.
                try await iterations.iterate(isAbandoned: sink.isClosed) {
                    let before = state.withLock { state in
                        defer { if state == .unused { state = .begun } }
                        return state
                    }
                    switch before {
                    case .empty: return
                    case .begun where !isReplayable: throw notReplayable
                    case .unused, .begun: break
                    }
                    try await run(sink)
                    if length == 0 { state.withLock { $0 = .empty } }
                }
            }
        }
    }

    /// What has been produced so far.
    private enum Production {
        case unused
        /// Perhaps everything, perhaps not.
        case begun
        /// Nothing, as announced: that can be sent any number of times.
        case empty
    }

    /// The error for a body that another request has used up.
    static let spent = HTTPClientError(
        .bodyNotReplayable, phase: .request,
        message: "the request's body has been sent before and cannot be produced again; "
            + "make a new one, or say `isReplayable` if its sequence can be iterated again")

    /// The error for a body that is gone.
    static let notReplayable = HTTPClientError(
        .bodyNotReplayable, phase: .request, requestDisposition: .maybeProcessed,
        message: "the request's body has been sent and cannot be produced again; "
            + "make a new one, or say `isReplayable` if its sequence can be iterated again")
}
