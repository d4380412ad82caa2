// SPDX-License-Identifier: Apache-2.0

/// The reason why the performer did not run an operation, or ended one that it supervised.
///
/// ``Code/timedOut``, ``Code/cancelled``, ``Code/stopped``, ``Code/invalidArgument`` and ``Code/monitorFailed`` mean
/// that the operation never ran. ``Code/deadlineExceeded`` means that it ran, was cancelled, and threw.
/// ``Code/networkLost`` means the same, after one or more runs.
public struct NetworkOperationError: Error, Sendable {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case timedOut, cancelled, stopped, invalidArgument, monitorFailed, deadlineExceeded, networkLost
        }
        private let kind: Kind

        /// The network, or a slot to run in, was not available in time. The operation never ran.
        public static let timedOut = Code(kind: .timedOut)
        /// The task was cancelled before the operation could start. It never ran.
        public static let cancelled = Code(kind: .cancelled)
        /// The monitor was stopped, so there is nothing to wait for. The operation never ran.
        public static let stopped = Code(kind: .stopped)
        /// The time limit is not a number, or the limit on concurrent operations or on attempts is less than one. The
        /// operation never ran.
        public static let invalidArgument = Code(kind: .invalidArgument)
        /// The monitor cannot determine the network's state. The operation never ran.
        public static let monitorFailed = Code(kind: .monitorFailed)
        /// The operation did not end in time, was cancelled, and threw. Its error is the underlying one.
        public static let deadlineExceeded = Code(kind: .deadlineExceeded)
        /// The network was lost while the operation ran, the operation was cancelled and threw, and it was not to be
        /// run again or could not be in time. Its last error is the underlying one.
        public static let networkLost = Code(kind: .networkLost)

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }
    }

    /// What a call that timed out was waiting for; more may be added.
    public struct Missing: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case path, stability, slot }
        private let kind: Kind

        /// A path that meets the requirement.
        public static let path = Missing(kind: .path)
        /// The path met the requirement, but not yet for the minimum stable time.
        public static let stability = Missing(kind: .stability)
        /// A slot to run in: the network was available, but the maximum number of operations was already running.
        public static let slot = Missing(kind: .slot)

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// What was still missing when the time was over; nil unless the code is ``Code/timedOut``.
    public let missing: Missing?
    /// What happened, and what to do about it.
    public let message: String
    /// The monitor's error, or the operation's own error if the operation ran.
    public let underlyingError: (any Error)?

    /// Describes an error; for stand-ins of the performer.
    public init(_ code: Code, missing: Missing? = nil, message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.missing = missing
        self.message = message
        self.underlyingError = underlyingError
    }
}

extension NetworkOperationError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension NetworkOperationError {
    static func timedOut(missing: Missing, requirement: NetworkRequirement, lastPath: NetworkPath?) -> Self {
        let message =
            switch missing {
            case .stability:
                "the network (\(requirement)) was there, but not for long enough; wait longer or ask for less"
            case .slot:
                "too many operations ran at once to start this one in time; wait longer or allow more at once"
            default:
                "the network (\(requirement)) did not come in time: \(state(lastPath)); wait longer or try again later"
            }
        return Self(.timedOut, missing: missing, message: message)
    }

    private static func state(_ path: NetworkPath?) -> String {
        path.map { "the path is \($0)" } ?? "the monitor did not say what the path is"
    }

    static let cancelled = Self(.cancelled, message: "cancelled before the operation could start; it did not run")

    static let stopped = Self(
        .stopped, message: "the network monitor was stopped; make a new monitor and a performer on it")

    static let invalidArgument = Self(
        .invalidArgument, message: "the time limit is not a number; pass seconds, or .infinity to wait without a limit")

    static let invalidMaximumRunning = Self(
        .invalidArgument,
        message: "maximumRunning is less than one, so that nothing could run; pass nil to run any number at once")

    static let invalidMaximumAttempts = Self(
        .invalidArgument,
        message: "the retry policy's maximumAttempts is less than one, so that nothing could run; pass at least one")

    /// - Parameter runs: How often the operation has run.
    static func networkLost(_ error: any Error, because cause: Self? = nil, runs: Int = 1) -> Self {
        let advice = runs == 1 ? "" : ", or raise `maximumAttempts` (it ran \(runs) times)"
        let message =
            cause.map { "the network was lost while the operation ran, and then: \($0)" }
            ?? "the network was lost while the operation ran, which was cancelled: \(error); try again later\(advice)"
        return Self(.networkLost, message: message, underlyingError: error)
    }

    static func monitorFailed(_ error: NetworkMonitorError) -> Self {
        Self(.monitorFailed, message: "the network's state cannot be told: \(error)", underlyingError: error)
    }

    static func deadlineExceeded(_ error: any Error) -> Self {
        Self(
            .deadlineExceeded,
            message: "the operation did not end in time and was cancelled: \(error); allow it more time",
            underlyingError: error)
    }
}
