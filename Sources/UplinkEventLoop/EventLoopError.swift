// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc

/// The reason why an event loop does not work.
public struct EventLoopError: Error, Sendable {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case ended, system, networkNamespace }
        private let kind: Kind

        /// The loop has ended.
        public static let ended = Code(kind: .ended)
        /// The system refused a thread, a descriptor or memory.
        public static let system = Code(kind: .system)
        /// The network namespace does not exist or may not be entered.
        public static let networkNamespace = Code(kind: .networkNamespace)

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The system's error number (`errno(3)`), or 0.
    public let errno: CInt
    /// What happened, and what to do about it.
    public let message: String

    package init(_ code: Code, during activity: String, errno: CInt = 0) {
        self.code = code
        self.errno = errno
        let cause = errno == 0 ? "the event loop has ended" : String(cString: strerror(errno))
        let remedy =
            switch errno {
            case EMFILE: "; raise the limit on open files (ulimit -n)"
            case ENFILE: "; raise the system's limit on open files (fs.file-max)"
            case EAGAIN: "; raise the limit on threads (ulimit -u, or the service's TasksMax)"
            case EPERM where code == .networkNamespace: "; run as root or with CAP_SYS_ADMIN"
            case ENOENT where code == .networkNamespace: "; `ip netns list` shows what there is"
            default: ""
            }
        message = "\(activity): \(cause)\(remedy)"
    }

    /// libuv gives error numbers negated.
    package init(libuv status: CInt, during activity: String) {
        self.init(.system, during: activity, errno: -status)
    }
}

extension EventLoopError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
