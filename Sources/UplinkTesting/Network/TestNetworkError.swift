// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a ``TestNetwork`` could not do what it was asked to.
public struct TestNetworkError: Error, Sendable {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case notPermitted, toolMissing, commandFailed, cannotStart, timedOut }
        private let kind: Kind

        /// The process may not make network namespaces.
        public static let notPermitted = Code(kind: .notPermitted)
        /// The program `ip` is missing.
        public static let toolMissing = Code(kind: .toolMissing)
        /// `ip` failed.
        public static let commandFailed = Code(kind: .commandFailed)
        /// A program cannot be started.
        public static let cannotStart = Code(kind: .cannotStart)
        /// A program did not end in time.
        public static let timedOut = Code(kind: .timedOut)

        /// The kind as one word.
        public var description: String { kind.rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// What happened, and what to do about it.
    public let message: String

    init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    static let toolMissing = Self(
        .toolMissing, message: "there is no `ip` in PATH; install iproute2 (apt-get install iproute2)")

    static func notPermitted(_ cause: String) -> Self {
        let remedy = """
            run the tests as root, in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN, or without privileges in \
            namespaces of their own: unshare -Urnm sh -c 'mount -t tmpfs tmpfs /run && swift test'
            """
        return Self(.notPermitted, message: "no network namespace can be made here: \(cause); \(remedy)")
    }

    static func cannotStart(_ name: String, errno: CInt) -> Self {
        Self(.cannotStart, message: "`\(name)` cannot be started: \(String(cString: strerror(errno)))")
    }
}

extension TestNetworkError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
