// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
public import UplinkHTTP

extension StubTransport {
    /// What a request is answered with.
    public struct Answer: Sendable {
        enum Kind: Sendable {
            case response(HTTPResponse, pieces: [[UInt8]], StubBody.Ending)
            case error(any Error)
            case silence
        }
        let kind: Kind
        var delay: (@Sendable () async throws -> Void)?
        var pause: (@Sendable () async throws -> Void)?

        /// Whether it is an error because of which nothing was sent.
        var sendsNothing: Bool {
            guard case .error(let error as HTTPClientError) = kind else { return false }
            return error.requestDisposition == .notSent
        }

        /// The wait before the head, if there is one.
        var wait: (@Sendable () async throws -> Void)? {
            guard case .silence = kind else { return delay }
            return { [delay] in
                try await delay?()
                throw await StubTransport.untilCancelled()
            }
        }

        /// A whole answer, with its body in these pieces. `Content-Length` is set unless the fields have one; if the
        /// pieces are shorter than it says, the body breaks off (`truncated`).
        public static func response(
            _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], pieces: [[UInt8]] = []
        ) -> Self {
            Self(kind: .response(HTTPResponse(status: status, headerFields: headers), pieces: pieces, .complete))
        }

        /// A whole answer with a text.
        public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
            .response(status, headers: [.contentType: "text/plain"], pieces: [Array(text.utf8)])
        }

        /// A redirect.
        public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> Self {
            .response(status, headers: [.location: location])
        }

        /// An answer whose body breaks off with an error after these pieces. The error's `requestDisposition` becomes
        /// `responseStarted`, because a response has started.
        public static func broken(
            _ error: HTTPClientError, after pieces: [[UInt8]], headers: HTTPFields = [:]
        ) -> Self {
            var error = error
            error.requestDisposition = .responseStarted
            let head = HTTPResponse(status: .ok, headerFields: headers)
            return Self(kind: .response(head, pieces: pieces, .error(error)))
        }

        /// An answer whose body never ends: after these pieces it waits until its reader is cancelled or, in a stub
        /// that was made with a clock, a timeout passes.
        public static func stalled(after pieces: [[UInt8]], headers: HTTPFields = [:]) -> Self {
            Self(kind: .response(HTTPResponse(status: .ok, headerFields: headers), pieces: pieces, .silence))
        }

        /// An error instead of an answer.
        ///
        /// An error created without `requestDisposition` means that nothing was sent, and a retry repeats whatever was
        /// not sent, even a POST. Pass `requestDisposition: .maybeProcessed` if the test is about a connection that
        /// broke later.
        public static func error(_ error: HTTPClientError) -> Self { Self(kind: .error(error)) }

        /// Neither answer nor error: the request waits until it is cancelled or, in a stub that was made with a clock,
        /// a timeout passes.
        public static let silence = Self(kind: .silence)

        /// Returns the same answer after a delay on a clock, which may be the test's own.
        public func after<C: Clock>(_ delay: Duration, on clock: C) -> Self where C.Duration == Duration {
            var answer = self
            answer.delay = { try await clock.sleep(for: delay) }
            return answer
        }

        /// Returns the same answer with a pause before each piece of the body, on a clock, which may be the test's own.
        public func pausing<C: Clock>(_ pause: Duration, on clock: C) -> Self where C.Duration == Duration {
            var answer = self
            answer.pause = { try await clock.sleep(for: pause) }
            return answer
        }
    }
}
