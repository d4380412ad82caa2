// SPDX-License-Identifier: Apache-2.0

/// The reason why a monitor cannot report the network's path.
public struct NetworkMonitorError: Error, Sendable {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case unavailable, failed, invalidConfiguration }
        private let kind: Kind

        /// The system refuses what the monitor needs (a sandbox without netlink, for example).
        public static let unavailable = Code(kind: .unavailable)
        /// The monitor worked and then failed.
        public static let failed = Code(kind: .failed)
        /// The monitor's configuration makes no sense.
        public static let invalidConfiguration = Code(kind: .invalidConfiguration)

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// What happened, and what to do about it.
    public let message: String
    /// The system's own error, if there is one.
    public let underlyingError: (any Error)?

    /// Describes an error.
    public init(_ code: Code, message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlyingError = underlyingError
    }
}

extension NetworkMonitorError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
