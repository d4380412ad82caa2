// SPDX-License-Identifier: Apache-2.0
import Uplink
import UplinkHTTP

/// Why a use case did not do its work.
struct FilesError: Error, CustomStringConvertible {
    /// The kind of an error.
    enum Code: Sendable, Hashable {
        /// The user's name or the password cannot be sent, and nothing was.
        case invalidCredentials
        /// The server's URL is invalid, or cannot be used.
        case invalidServer
        /// 401 or 403.
        case wrongUserOrPassword
        /// 400: the name is invalid or taken, or the item is not of the kind that is needed.
        case refused
        /// 404, or a path that leads nowhere.
        case notFound
        /// 5xx.
        case serverFailed
        /// Any other status, or a body that is not as agreed.
        case unexpectedAnswer
        /// There was no answer, or not all of it.
        case unreachable
        /// A file of this host could not be read or written.
        case localFile
        /// The same is being done at this moment, perhaps by another process.
        case busy
    }

    let code: Code
    /// What happened, and what to do about it.
    let message: String
    /// The transport's error, if there is one.
    let underlying: HTTPClientError?
    /// The server's status, if it was not as agreed.
    let status: Int?

    init(_ code: Code, _ message: String, underlying: HTTPClientError? = nil, status: Int? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.status = status
    }

    var description: String { message }

    /// Whether the server has said that it did not do what was asked.
    var isRefusal: Bool { [.wrongUserOrPassword, .refused].contains(code) }
    /// Whether the server may have done what was asked although it did not say so.
    var mayBeDone: Bool {
        code == .serverFailed || code == .unreachable && underlying?.requestDisposition != .notSent
    }
    /// Whether the same may succeed when the network is back.
    var isNetworkFailure: Bool { underlying?.isNetworkFailure ?? false }
}

extension FilesError {
    /// Creates the error that a status means.
    ///
    /// - Parameter activity: What was being tried, such as `list the folder`.
    init(status: Int, while activity: String) {
        switch status {
        case 401, 403: self.init(.wrongUserOrPassword, "wrong user or password")
        case 400:
            self.init(
                .refused,
                "could not \(activity): the server refuses it (400); the name is not permitted or taken, or this "
                    + "is the wrong kind of item")
        case 404: self.init(.notFound, "could not \(activity): the server has no such item (404); it may be deleted")
        case 500...599:
            self.init(.serverFailed, "could not \(activity): the server failed (\(status)); try again later")
        default:
            self.init(
                .unexpectedAnswer, "could not \(activity): the server answered \(status), which is not agreed",
                status: status)
        }
    }

    /// What a download reports.
    init(_ error: DownloadError, while activity: String) {
        if let status = error.status {
            self.init(status: status, while: activity)
            return
        }
        let local: Set<DownloadError.Code> = [
            .targetExists, .targetNotAFile, .targetBusy, .diskFull, .notWritable, .fileFailed,
        ]
        let kept = error.keptBytes > 0 ? "; \(ByteCount(Int(error.keptBytes))) are kept to go on with" : ""
        self.init(
            local.contains(error.code) ? .localFile : .unreachable,
            "could not \(activity): \(CommandFailure.inOptions(error.message))\(kept)",
            underlying: error.underlyingError as? HTTPClientError)
    }

    /// What the transport reports.
    init(_ error: HTTPClientError, while activity: String) {
        let code: Code = error.code == .fileFailed || error.code == .fileExists ? .localFile : .unreachable
        self.init(code, "could not \(activity): \(error)", underlying: error)
    }
}
