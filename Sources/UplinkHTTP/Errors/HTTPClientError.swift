// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// The reason why a request has no complete response.
///
/// A status such as 404 is a response, not an error, and a cancelled task gets `CancellationError`.
public struct HTTPClientError: NetworkFailure {
    /// How far the exchange had got.
    public enum Phase: String, Sendable, Hashable {
        /// The request was being checked; nothing had been done yet.
        case request
        /// The transfer was waiting in the queue.
        case queue
        /// The host's name was being resolved.
        case dns
        /// The connection was being made, including TLS where the two are not told apart (timeouts).
        case connect
        /// TLS was being negotiated.
        case tls
        /// The request was being sent, or the head of the response was awaited.
        case firstByte
        /// A redirect was about to be followed.
        case redirect
        /// The body was arriving.
        case body
        /// The body was being written to its destination.
        case sink
    }

    /// What had happened to the request, which decides whether it may be sent again.
    public enum RequestDisposition: String, Sendable, Hashable {
        /// No byte of the request went out: sending it again cannot have an effect twice.
        case notSent
        /// The server may have seen and processed it.
        case maybeProcessed
        /// The server has begun to answer.
        case responseStarted

        /// Returns the one that says more of what a server may have done.
        func farthest(_ other: Self) -> Self {
            switch (self, other) {
            case (.responseStarted, _), (_, .responseStarted): .responseStarted
            case (.maybeProcessed, _), (_, .maybeProcessed): .maybeProcessed
            case (.notSent, .notSent): .notSent
            }
        }
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

    /// One word, because every request has room for an error in many places and hardly ever an error.
    private var parts: Shared<Parts>

    /// The kind of the error.
    public var code: Code { parts.value.code }
    /// How far the exchange had got.
    public package(set) var phase: Phase {
        get { parts.value.phase }
        set { parts.value.phase = newValue }
    }
    /// What had happened to the request, over all its redirects and attempts: if a server has answered one of them, or
    /// may have seen it, this is not ``RequestDisposition/notSent``.
    public package(set) var requestDisposition: RequestDisposition {
        get { parts.value.requestDisposition }
        set { parts.value.requestDisposition = newValue }
    }
    /// What happened, and what to do about it.
    public var message: String { parts.value.message }
    /// The URL concerned, without user information and query. Empty where there is none, for requests that the
    /// client refuses by itself, and for errors found while reading a body (size limit, coding, checksum): there the
    /// response has the URL.
    public package(set) var url: String {
        get { parts.value.url }
        set { parts.value.url = newValue }
    }
    /// The URLs that redirected here, in order; redacted like ``url``, which is the last of them if the redirect itself
    /// is the error (`phase` is `redirect`).
    public internal(set) var redirects: [String] {
        get { parts.value.redirects }
        set { parts.value.redirects = newValue }
    }
    /// How often the request to ``url`` was tried, including this time.
    public package(set) var attempts: Int {
        get { parts.value.attempts }
        set { parts.value.attempts = newValue }
    }
    /// The sum of the pauses between these attempts.
    public package(set) var waited: Duration {
        get { parts.value.waited }
        set { parts.value.waited = newValue }
    }
    /// libcurl's error (`libcurl-errors(3)`), or 0.
    public package(set) var curlCode: Int32 {
        get { parts.value.curlCode }
        set { parts.value.curlCode = newValue }
    }
    /// What libcurl said in addition to its code; may be empty.
    public package(set) var curlText: String {
        get { parts.value.curlText }
        set { parts.value.curlText = newValue }
    }
    /// The system's error number (`errno(3)`), or 0.
    public package(set) var errno: Int32 {
        get { parts.value.errno }
        set { parts.value.errno = newValue }
    }
    /// Bytes of the body received.
    public package(set) var receivedBytes: Int64 {
        get { parts.value.receivedBytes }
        set { parts.value.receivedBytes = newValue }
    }
    /// Bytes of the body announced by `Content-Length`.
    public package(set) var expectedBytes: Int64? {
        get { parts.value.expectedBytes }
        set { parts.value.expectedBytes = newValue }
    }

    /// Describes an error; for custom transports.
    public init(
        _ code: Code, phase: Phase, requestDisposition: RequestDisposition = .notSent, message: String
    ) {
        parts = Shared(Parts(code: code, phase: phase, requestDisposition: requestDisposition, message: message))
    }

    /// Whether another path through the network may help; the request may have been processed anyway.
    public var isNetworkFailure: Bool { code.isNetworkFailure }

    /// Returns the error with the disposition of an earlier exchange of the same request: that the last one was not
    /// sent is then not the whole truth.
    func following(_ earlier: RequestDisposition) -> Self {
        guard requestDisposition == .notSent, earlier != .notSent else { return self }
        var error = self
        error.requestDisposition = earlier
        return error
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// Code and phase, such as `connectTimeout/connect`: one of a fixed number of texts, without any value from the
    /// request or the server, so that it can label a metric.
    public var shortDescription: String { "\(code)/\(phase.rawValue)" }

    /// The URL, the message, libcurl's text, and the number of attempts if there was more than one.
    public var description: String {
        var text = url.isEmpty ? message : "\(url): \(message)"
        if !curlText.isEmpty { text += " (libcurl \(curlCode): \(curlText))" }
        if attempts > 1 {
            text += " (attempt \(attempts), after pauses of \(Duration.milliseconds(waited.milliseconds)))"
        }
        return text
    }
}
