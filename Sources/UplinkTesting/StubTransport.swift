// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import UplinkCore
public import UplinkHTTP

/// A transport that answers as the test says, without a socket, and records what it was asked.
///
/// Each client gets a stub of its own; nothing is global. A request for which nothing was stubbed is an error, never a
/// hang.
///
/// ```swift
/// let transport = StubTransport()
/// transport.answer("https://example.org/", .text("hello"))
/// let client = HTTPClient(transport: transport)
/// ```
public final class StubTransport: HTTPTransport {
    /// What a request gets.
    public struct Answer: Sendable {
        enum Kind: Sendable {
            case response(HTTPResponse, pieces: [[UInt8]], ending: HTTPClientError?)
            case error(HTTPClientError)
            case silence
        }
        let kind: Kind
        var delay: @Sendable () async throws -> Void = {}

        /// A whole answer, its body in the pieces given. `Content-Length` is set unless the fields have one.
        public static func response(
            _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], pieces: [[UInt8]] = []
        ) -> Self {
            Self(kind: .response(HTTPResponse(status: status, headerFields: headers), pieces: pieces, ending: nil))
        }

        /// A whole answer with a text.
        public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
            .response(status, headers: [.contentType: "text/plain"], pieces: [Array(text.utf8)])
        }

        /// An answer whose body breaks off with an error after these pieces.
        public static func broken(
            _ error: HTTPClientError, after pieces: [[UInt8]], headers: HTTPFields = [:]
        ) -> Self {
            Self(kind: .response(HTTPResponse(status: .ok, headerFields: headers), pieces: pieces, ending: error))
        }

        /// No answer but an error.
        public static func error(_ error: HTTPClientError) -> Self { Self(kind: .error(error)) }

        /// Neither answer nor error: the request waits until it is cancelled.
        public static let silence = Self(kind: .silence)

        /// The same after a delay on a clock, which may be the test's own.
        public func after<C: Clock>(_ delay: Duration, on clock: C) -> Self where C.Duration == Duration {
            var answer = self
            answer.delay = { try await clock.sleep(for: delay) }
            return answer
        }
    }

    private struct State {
        var answers: [String: [Answer]] = [:]
        var requests: [HTTPTransportRequest] = []
    }

    private let state = Locked(State())

    /// Makes a stub that answers nothing yet.
    public init() {}

    /// The requests so far, in order.
    public var requests: [HTTPTransportRequest] { state.withLock { $0.requests } }

    /// Sets the answers for a URL: one for each request in turn, the last one for all that follow.
    ///
    /// - Parameter url: The whole URL as the request makes it, such as `https://example.org/` with its slash.
    public func answer(_ url: String, _ answers: Answer...) { state.withLock { $0.answers[url] = answers } }

    /// Records the request and answers as the test said; an error where it said nothing.
    public func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let url = "\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")"
        let answer = state.withLock { state -> Answer? in
            state.requests.append(request)
            guard let answers = state.answers[url], let first = answers.first else { return nil }
            if answers.count > 1 { state.answers[url]?.removeFirst() }
            return first
        }
        guard let answer else {
            throw HTTPClientError(
                .connectionFailed, phase: .connect,
                message: "nothing is stubbed for \(url); call answer(\"\(url)\", …) before the request")
        }
        try await answer.delay()
        switch answer.kind {
        case .error(let error): throw error
        case .silence:
            try await forever()
            throw CancellationError()
        case .response(let head, let pieces, let ending):
            return respond(to: request, head, pieces: pieces, ending: ending)
        }
    }

    private func respond(
        to request: HTTPTransportRequest, _ head: HTTPResponse, pieces: [[UInt8]], ending: HTTPClientError?
    ) -> HTTPTransportResponse {
        var head = head
        if ending == nil, head.headerFields[.contentLength] == nil {
            head.headerFields[.contentLength] = "\(pieces.reduce(0) { $0 + $1.count })"
        }
        let rest = Locked(request.head.method == .head ? [] : pieces)
        let body = HTTPBody(contentLength: head.headerFields[.contentLength].flatMap { Int64($0) }) {
            if let piece = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
            if let ending { throw ending }
            return nil
        }
        return HTTPTransportResponse(head: head, body: body)
    }

    /// Waits for the task's cancellation.
    private func forever() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        try Task.checkCancellation()
    }
}
