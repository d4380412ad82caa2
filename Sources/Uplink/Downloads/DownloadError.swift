// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// Why there is no file. A cancelled download throws `CancellationError` instead.
public struct DownloadError: Error, Sendable {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case invalidOptions, targetExists, targetNotAFile, targetBusy
            case diskFull, notWritable, fileFailed
            case deadlineExceeded, networkUnknown, requestFailed, unexpectedStatus, tooManyFailures, tooManyRestarts
            case unframedBody, tooLarge, sizeMismatch, checksumMismatch
        }
        private let kind: Kind

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }

        // MARK: Before anything is sent

        /// The URL, the request or an option is invalid.
        public static let invalidOptions = Code(kind: .invalidOptions)
        /// The target exists, and may not be replaced.
        public static let targetExists = Code(kind: .targetExists)
        /// The target is not a regular file but a directory, a symbolic link, a pipe or the like.
        public static let targetNotAFile = Code(kind: .targetNotAFile)
        /// Another download to the same target is under way, in this process or another.
        public static let targetBusy = Code(kind: .targetBusy)

        // MARK: The file

        /// The disk or the quota is full (ENOSPC, EDQUOT), or the file may not be that large (EFBIG).
        public static let diskFull = Code(kind: .diskFull)
        /// The directory or its file system may not be written to (EACCES, EPERM, EROFS).
        public static let notWritable = Code(kind: .notWritable)
        /// The file cannot be written for another reason; see ``errno``.
        public static let fileFailed = Code(kind: .fileFailed)

        // MARK: The network and the server

        /// The download was not whole in time.
        public static let deadlineExceeded = Code(kind: .deadlineExceeded)
        /// The monitor cannot determine the network's state.
        public static let networkUnknown = Code(kind: .networkUnknown)
        /// The request failed for a reason that another attempt does not change, such as a certificate; see
        /// ``underlyingError``.
        public static let requestFailed = Code(kind: .requestFailed)
        /// The server answered with a status that brings no file, such as 404; see ``status``.
        public static let unexpectedStatus = Code(kind: .unexpectedStatus)
        /// More attempts in a row failed than are allowed.
        public static let tooManyFailures = Code(kind: .tooManyFailures)
        /// The server sent something else each time it was asked to go on.
        public static let tooManyRestarts = Code(kind: .tooManyRestarts)
        /// Only the end of the connection ends the body, so there is no telling whether it is whole.
        public static let unframedBody = Code(kind: .unframedBody)
        /// The file is larger than ``DownloadOptions/maximumSize``.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The file's size is not ``DownloadOptions/expectedSize``.
        public static let sizeMismatch = Code(kind: .sizeMismatch)
        /// The file's digest is not the one that was expected.
        public static let checksumMismatch = Code(kind: .checksumMismatch)
    }

    /// The kind of the error.
    public let code: Code
    /// What happened, and what to do about it.
    public let message: String
    /// The URL that was to be downloaded, without its query; empty if it is not known.
    public internal(set) var url = ""
    /// The path of the file that was to be written; nil if it is not known.
    public internal(set) var target: FilePath?
    /// The error of the last attempt: an `HTTPClientError`, a `NetworkOperationError`, a `DownloadError` about the
    /// file, an `EventLoopError` when nothing could be written because there was no loop, a `CancellationError` when
    /// the request was cancelled and not the download, what a middleware threw, or nil.
    public internal(set) var underlyingError: (any Error)?
    /// The status of the last answer, if it is what went wrong.
    public internal(set) var status: Int?
    /// The system's error number (`errno(3)`), or 0.
    public internal(set) var errno: Int32 = 0
    /// How many bytes are kept for a later download to the same target.
    public internal(set) var keptBytes: Int64 = 0

    /// Creates an error, for stand-ins in tests.
    public init(_ code: Code, message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlyingError = underlyingError
    }
}

extension DownloadError {
    /// The same error, which says what was to be downloaded.
    func of(_ url: String, to target: FilePath) -> Self {
        var named = self
        (named.url, named.target) = (url, target)
        return named
    }
}

extension DownloadError: CustomStringConvertible {
    /// The URL and the message.
    public var description: String { url.isEmpty || message.hasPrefix(url) ? message : "\(url): \(message)" }
}
