// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import UplinkCore

/// Runs `body`. A signal that asks the program to end cancels it, and waits for it to clean up.
///
/// A second signal, from a user who does not want to wait, ends the program immediately.
///
/// - Throws: `ExitCode` 128 plus the signal's number (130 for SIGINT), or what `body` throws; 1 without a message if
///   the output's reader has gone, as `head` does when it has seen enough.
func untilInterrupted<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let signals = Signals()
    try await signals.watch([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { signal in
        if Interruption.begin(signal) == .again {
            PasswordPrompt.restore()
            TerminalMode.restore()
            _exit(128 + signal)
        }
    }
    return try await withThrowingTaskGroup(of: Ending<Value>.self) { group in
        group.addTask {
            do { return .finished(try await body()) } catch let error as OutputError where error.isClosed {
                throw ExitCode(1)
            } catch is CancellationError {
                // It may have heard of the signal first.
                guard let signal = Interruption.first else { throw CancellationError() }
                throw ExitCode(128 + signal)
            }
        }
        group.addTask {
            for await signal in signals.received { return .interrupted(signal) }
            return .cancelled
        }
        defer { group.cancelAll() }
        switch try await group.next() {
        case .finished(let value): return value
        case .interrupted(let signal):
            group.cancelAll()
            _ = await group.nextResult()
            throw ExitCode(128 + signal)
        case .cancelled, nil: throw CancellationError()
        }
    }
}

/// Whether a signal has asked the program to end.
enum Interruption {
    private static let state = Locked((turns: SignalTurns(), first: CInt?.none))

    static var hasBegun: Bool { state.withLock { $0.turns.hasBegun } }

    /// The signal that asked for it.
    static var first: CInt? { state.withLock { $0.first } }

    /// Records a signal.
    static func begin(_ signal: CInt) -> SignalTurns.Turn {
        state.withLock { state in
            state.first = state.first ?? signal
            return state.turns.take(at: .now)
        }
    }
}

/// The meaning of successive signals that ask the program to end. Knows no clock.
struct SignalTurns {
    /// What one signal means.
    enum Turn {
        /// End, and clean up.
        case first
        /// The first one again: timeout(1) signals the program and then its whole group.
        case echo
        /// The user does not want to wait for the cleanup.
        case again
    }

    /// The shortest time in which someone presses a key twice.
    static let grace = Duration.milliseconds(300)

    private var begun: ContinuousClock.Instant?

    var hasBegun: Bool { begun != nil }

    /// Records a signal, and returns what it means.
    mutating func take(at now: ContinuousClock.Instant) -> Turn {
        guard let begun else {
            begun = now
            return .first
        }
        return now - begun < Self.grace ? .echo : .again
    }
}

private enum Ending<Value: Sendable>: Sendable {
    case finished(Value)
    case interrupted(CInt)
    case cancelled
}
