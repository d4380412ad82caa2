// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// What kept a request from its whole answer.
///
/// A status such as 404 is an answer, not an error, and a cancelled task gets `CancellationError`.
public struct HTTPClientError: NetworkFailure {
    /// How far the exchange had come.
    public enum Phase: String, Sendable, Hashable {
        /// The request was checked; nothing was done yet.
        case request
        /// The transfer waited for its turn.
        case queue
        /// The host's name was resolved.
        case dns
        /// The connection was made, TLS included where that is not told apart (timeouts).
        case connect
        /// TLS was negotiated.
        case tls
        /// The request was sent, and the head of the answer awaited.
        case firstByte
        /// A redirect was to be followed.
        case redirect
        /// The body arrived.
        case body
        /// The body was written where it was wanted.
        case sink
    }

    /// What became of the request, for the question whether it may be sent again.
    public enum RequestDisposition: String, Sendable, Hashable {
        /// No byte of the request went out: sending it again cannot do anything twice.
        case notSent
        /// The server may have seen and processed it.
        case maybeProcessed
        /// The server has begun to answer.
        case responseStarted
    }

    /// The kind of the error.
    public let code: Code
    /// How far the exchange had come.
    public let phase: Phase
    /// What became of the request.
    public package(set) var requestDisposition: RequestDisposition
    /// What happened, and what to do about it.
    public let message: String
    /// The URL concerned, without user information and query; empty where there is none.
    public package(set) var url: String = ""
    /// The URLs that redirected here, in order; redacted as ``url``.
    public internal(set) var redirects: [String] = []
    /// How often the request to ``url`` was tried, this time included.
    public package(set) var attempts = 1
    /// The pauses between these attempts, taken together.
    public package(set) var waited = Duration.zero
    /// libcurl's error (`libcurl-errors(3)`), or 0.
    public package(set) var curlCode: Int32 = 0
    /// What libcurl said beside its code; may be empty.
    public package(set) var curlText: String = ""
    /// The system's error number (`errno(3)`), or 0.
    public package(set) var errno: Int32 = 0
    /// Bytes of the body that had arrived.
    public package(set) var receivedBytes: Int64 = 0
    /// Bytes of the body that `Content-Length` had announced.
    public package(set) var expectedBytes: Int64?

    /// Describes an error; for transports of one's own.
    public init(
        _ code: Code, phase: Phase, requestDisposition: RequestDisposition = .notSent, message: String
    ) {
        self.code = code
        self.phase = phase
        self.requestDisposition = requestDisposition
        self.message = message
    }

    /// Whether another path through the network may help; the request may have been processed all the same.
    public var isNetworkFailure: Bool { code.isNetworkFailure }
}

extension HTTPClientError: CustomStringConvertible {
    /// Code and phase, such as `connectTimeout/connect`: one of a fixed number of texts, without a value of the request's
    /// or the server's, so that it may label a metric.
    public var shortDescription: String { "\(code)/\(phase.rawValue)" }

    /// The URL, the message, what libcurl said, and how often the request was tried if more than once.
    public var description: String {
        var text = url.isEmpty ? message : "\(url): \(message)"
        if !curlText.isEmpty { text += " (libcurl \(curlCode): \(curlText))" }
        if attempts > 1 { text += " (attempt \(attempts), after pauses of \(waited))" }
        return text
    }
}
