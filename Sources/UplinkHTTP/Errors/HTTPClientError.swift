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

    private struct Parts {
        var code: Code
        var phase: Phase
        var requestDisposition: RequestDisposition
        var message: String
        var url = ""
        var redirects: [String] = []
        var attempts = 1
        var waited = Duration.zero
        var curlCode: Int32 = 0
        var curlText = ""
        var errno: Int32 = 0
        var receivedBytes: Int64 = 0
        var expectedBytes: Int64?
    }

    /// Every request has room for an error in many places, and hardly ever one.
    private var parts: Shared<Parts>

    /// The kind of the error.
    public var code: Code { parts.value.code }
    /// How far the exchange had come.
    public package(set) var phase: Phase {
        get { parts.value.phase }
        set { parts.value.phase = newValue }
    }
    /// What became of the request, with all its redirects and attempts: where a server has answered one of them, or may
    /// have seen it, this is not ``RequestDisposition/notSent``.
    public package(set) var requestDisposition: RequestDisposition {
        get { parts.value.requestDisposition }
        set { parts.value.requestDisposition = newValue }
    }
    /// What happened, and what to do about it.
    public var message: String { parts.value.message }
    /// The URL concerned, without user information and query; empty where there is none, and of what a body's reader finds
    /// by itself (a maximum, a coding, a checksum), who has the response that names it.
    public package(set) var url: String {
        get { parts.value.url }
        set { parts.value.url = newValue }
    }
    /// The URLs that redirected here, in order; redacted as ``url``.
    public internal(set) var redirects: [String] {
        get { parts.value.redirects }
        set { parts.value.redirects = newValue }
    }
    /// How often the request to ``url`` was tried, this time included.
    public package(set) var attempts: Int {
        get { parts.value.attempts }
        set { parts.value.attempts = newValue }
    }
    /// The pauses between these attempts, taken together.
    public package(set) var waited: Duration {
        get { parts.value.waited }
        set { parts.value.waited = newValue }
    }
    /// libcurl's error (`libcurl-errors(3)`), or 0.
    public package(set) var curlCode: Int32 {
        get { parts.value.curlCode }
        set { parts.value.curlCode = newValue }
    }
    /// What libcurl said beside its code; may be empty.
    public package(set) var curlText: String {
        get { parts.value.curlText }
        set { parts.value.curlText = newValue }
    }
    /// The system's error number (`errno(3)`), or 0.
    public package(set) var errno: Int32 {
        get { parts.value.errno }
        set { parts.value.errno = newValue }
    }
    /// Bytes of the body that had arrived.
    public package(set) var receivedBytes: Int64 {
        get { parts.value.receivedBytes }
        set { parts.value.receivedBytes = newValue }
    }
    /// Bytes of the body that `Content-Length` had announced.
    public package(set) var expectedBytes: Int64? {
        get { parts.value.expectedBytes }
        set { parts.value.expectedBytes = newValue }
    }

    /// Describes an error; for transports of one's own.
    public init(
        _ code: Code, phase: Phase, requestDisposition: RequestDisposition = .notSent, message: String
    ) {
        parts = Shared(Parts(code: code, phase: phase, requestDisposition: requestDisposition, message: message))
    }

    /// Whether another path through the network may help; the request may have been processed all the same.
    public var isNetworkFailure: Bool { code.isNetworkFailure }

    /// The error, where an earlier exchange of the same request had come so far: that the last one was not sent is not all
    /// there is to say then.
    func following(_ earlier: RequestDisposition) -> Self {
        guard requestDisposition == .notSent, earlier != .notSent else { return self }
        var error = self
        error.requestDisposition = earlier
        return error
    }
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
