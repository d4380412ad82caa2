// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import UplinkCore

/// Runs `body`; a signal that asks the program to end cancels it, and it is waited for, so that it can clean up.
///
/// A second signal ends the program at once.
///
/// - Throws: `ExitCode` 128 and the signal's number (130 for SIGINT), or what `body` throws; 1 without a message where the
///   output's reader has gone, as `head` does when it has seen enough.
func untilInterrupted<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let signals = Signals()
    try await signals.watch([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { signal in
        if Interruption.begin() == .again {
            PasswordPrompt.restore()
            TerminalMode.restore()
            _exit(128 + signal)
        }
    }
    return try await withThrowingTaskGroup(of: Ending<Value>.self) { group in
        group.addTask {
            do { return .finished(try await body()) } catch let error as OutputError where error.isClosed {
                throw ExitCode(1)
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
    /// Whether the signal was the first.
    enum Turn { case first, again }

    private static let isUnderWay = Locked(false)

    static var hasBegun: Bool { isUnderWay.withLock { $0 } }

    /// Takes note of a signal.
    static func begin() -> Turn {
        isUnderWay.withLock { isUnderWay in
            defer { isUnderWay = true }
            return isUnderWay ? .again : .first
        }
    }
}

private enum Ending<Value: Sendable>: Sendable {
    case finished(Value)
    case interrupted(CInt)
    case cancelled
}
