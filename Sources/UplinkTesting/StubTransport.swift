// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import UplinkCore
public import UplinkHTTP

/// A transport that answers as the test says, without a socket, and records the requests.
///
/// Each client gets a stub of its own; nothing is global. A request for which nothing was stubbed fails with an error,
/// and never hangs. The stub keeps timeouts only if it is created with a clock; otherwise ``Answer/silence`` and
/// ``Answer/stalled(after:headers:)`` outlast every timeout, and an answer that the test delays takes as long as the
/// test's clock says.
///
/// ```swift
/// let transport = StubTransport()
/// transport.answer("https://example.org/", .text("hello"))
/// transport.answer(.post, "https://example.org/", .text("", status: .serviceUnavailable), .text("created"))
/// let client = HTTPClient(transport: transport)
/// // …
/// #expect(transport.unused.isEmpty)
/// ```
///
/// Rules are tried from the last one set to the first. Setting ``answer(_:_:)`` for the same method and URL again
/// replaces what was set before.
public final class StubTransport: HTTPTransport {
    private struct State {
        var rules = StubRules()
        var requests: [HTTPTransportRequest] = []
        var bodies: [[UInt8]?] = []
    }

    /// The most bytes of a request's body that are recorded.
    private static let maximumBody = 64 << 20

    private let state = Locked(State())
    private let tellsEvents: Bool
    private let clock: ElapsedClock?

    /// Creates a stub without answers, which keeps no timeouts.
    ///
    /// - Parameter tellsEvents: Whether it reports events, as `CurlTransport` does.
    public init(tellsEvents: Bool = true) { (self.tellsEvents, clock) = (tellsEvents, nil) }

    /// Creates a stub without answers, which keeps timeouts on a clock: `total`, `firstByte`, and `stall` of the
    /// response's body.
    ///
    /// A timeout runs while an answer is delayed or paused, is silent or stalls, and sleeps on the clock meanwhile:
    /// with a delay on the same clock there are two sleepers. Give the client the same clock, for redirects and pauses
    /// between attempts.
    ///
    /// ```swift
    /// let clock = ManualClock()
    /// let transport = StubTransport(clock: clock)
    /// transport.answer("https://example.org/", .silence)
    /// let client = HTTPClient(transport: transport, clock: clock)
    /// let timeouts = HTTPTimeouts(total: .seconds(10))
    /// let call = Task { try await client.get("https://example.org/", timeouts: timeouts).status }
    /// try await clock.advance(by: .seconds(10))
    /// // call: HTTPClientError, totalTimeout
    /// ```
    ///
    /// - Parameters:
    ///   - tellsEvents: Whether it reports events, as `CurlTransport` does.
    ///   - clock: The clock that timeouts are measured on.
    public init<C: Clock>(tellsEvents: Bool = true, clock: C) where C.Duration == Duration {
        (self.tellsEvents, self.clock) = (tellsEvents, ElapsedClock(clock))
    }

    /// The requests so far, in order.
    public var requests: [HTTPTransportRequest] { state.withLock { $0.requests } }

    /// The bodies of the requests so far, in order; nil for a request without one, and until its body has been read.
    ///
    /// A body is read to its end before the request is answered; one of more than 64 MiB is an error.
    public var bodies: [[UInt8]?] { state.withLock { $0.bodies } }

    /// The rules with answers that were never used, in the order in which they were set; empty when the test used all.
    public var unused: [String] { state.withLock { $0.rules.unused } }

    // MARK: Rules

    /// Sets the answers for a URL, whatever the method: one for each request in turn, the last one for all that follow.
    ///
    /// - Parameters:
    ///   - url: The whole URL, with its query. `https://example.org` and `https://EXAMPLE.org:443/` are the same, as
    ///     they are for a client.
    ///   - answers: In the order of the requests.
    public func answer(_ url: String, _ answers: Answer...) { add(url, nil, answers) }

    /// Sets the answers for a method and a URL: one for each request in turn, the last one for all that follow.
    public func answer(_ method: HTTPRequest.Method, _ url: String, _ answers: Answer...) {
        add(url, method, answers)
    }

    /// Sets answers for a URL, whatever the method, each for one request; after them earlier rules apply, or nothing
    /// is stubbed.
    ///
    /// - Parameters:
    ///   - url: The whole URL, as above.
    ///   - answers: In the order of the requests.
    public func answerOnce(_ url: String, _ answers: Answer...) { add(url, nil, answers, repeatsLast: false) }

    /// Sets answers for a method and a URL, each for one request; after them earlier rules apply, or nothing is
    /// stubbed.
    ///
    /// - Parameters:
    ///   - method: Nil for any.
    ///   - url: The whole URL, as above.
    ///   - answers: In the order of the requests.
    public func answerOnce(_ method: HTTPRequest.Method?, _ url: String, _ answers: Answer...) {
        add(url, method, answers, repeatsLast: false)
    }

    /// Sets the answers for the requests for which a closure returns true.
    ///
    /// - Parameters:
    ///   - name: What ``unused`` calls the rule.
    ///   - matches: Called with each request that no later rule is for, on any thread.
    ///   - answers: One for each request in turn, the last one for all that follow.
    public func answer(
        _ name: String = "a predicate", where matches: @escaping @Sendable (HTTPTransportRequest) -> Bool,
        _ answers: Answer...
    ) { add(.predicate(name, matches), answers) }

    /// Makes a closure answer all requests that no later rule is for.
    ///
    /// - Parameters:
    ///   - name: What ``unused`` calls the rule.
    ///   - answer: Called with each request, in its task.
    public func respond(
        _ name: String = "a closure", with answer: @escaping @Sendable (HTTPTransportRequest) async -> Answer
    ) {
        state.withLock { $0.rules.add(.predicate(name) { _ in true }, repeatsLast: true, [answer]) }
    }

    private func add(_ url: String, _ method: HTTPRequest.Method?, _ answers: [Answer], repeatsLast: Bool = true) {
        add(.url(StubRules.normalForm(of: url), method), answers, repeatsLast: repeatsLast)
    }

    private func add(_ pattern: StubRules.Pattern, _ answers: [Answer], repeatsLast: Bool = true) {
        state.withLock { state in
            state.rules.add(pattern, repeatsLast: repeatsLast, answers.map { answer in { _ in answer } })
        }
    }

    // MARK: Answering

    /// Records the request and answers it as the test said, with an error if the test said nothing. In a cancelled task
    /// it does neither.
    public func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let story = StubStory(of: request, isTold: tellsEvents)
        let timeouts = clock.map { StubTimeouts(request.timeouts, on: $0) }
        let place = state.withLock { state in
            state.requests.append(request)
            state.bodies.append(nil)
            return state.requests.count - 1
        }
        do {
            guard let answer = answer(to: request) else { throw nothingStubbed(for: request) }
            story.started()
            let chosen = await answer(request)
            // A transport that sends nothing leaves a body as it is.
            if !request.body.isNone, request.body.isReplayable || !chosen.sendsNothing {
                let body = try await request.body.collect(upTo: Self.maximumBody)
                state.withLock { $0.bodies[place] = body }
                story.sent(body.count)
            }
            return try await give(chosen, to: request, timeouts, story)
        } catch {
            story.ended(received: 0, .failure(error))
            throw error
        }
    }

    /// Waits for the task's cancellation, and returns its error.
    static func untilCancelled() async -> any Error {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        return CancellationError()
    }

    private func answer(to request: HTTPTransportRequest) -> (@Sendable (HTTPTransportRequest) async -> Answer)? {
        // The closures are the test's, so they are not called with the lock held.
        for rule in state.withLock({ $0.rules.rules }) where rule.pattern.matches(request) {
            if let answer = state.withLock({ $0.rules.use(rule.id) }) { return answer }
        }
        return nil
    }

    private func give(
        _ answer: Answer, to request: HTTPTransportRequest, _ timeouts: StubTimeouts?, _ story: StubStory
    ) async throws -> HTTPTransportResponse {
        if let wait = answer.wait {
            if let timeouts { try await timeouts.head(wait) } else { try await wait() }
        }
        try Task.checkCancellation()
        switch answer.kind {
        case .error(let error): throw error
        case .silence: throw CancellationError()  // not reached: it waits for that
        case .response(var head, let pieces, let ending):
            if case .complete = ending, head.headerFields[.contentLength] == nil {
                head.headerFields[.contentLength] = "\(pieces.reduce(0) { $0 + $1.count })"
            }
            story.responded(head.status)
            return HTTPTransportResponse(
                head: head, body: body(of: head, pieces, ending, answer, request, timeouts, story))
        }
    }

    private func body(
        of head: HTTPResponse, _ pieces: [[UInt8]], _ ending: StubBody.Ending, _ answer: Answer,
        _ request: HTTPTransportRequest, _ timeouts: StubTimeouts?, _ story: StubStory
    ) -> HTTPBody {
        let isEmpty = request.head.method == .head || head.status == .noContent || head.status == .notModified
        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
        let source = StubBody(
            isEmpty ? [] : pieces, isEmpty ? .complete : ending, expecting: isEmpty ? nil : length, pause: answer.pause,
            timeouts
        ) { story.ended(received: $0, $1) }
        if isEmpty || length == 0 && pieces.isEmpty { source.endAtOnce() }
        return HTTPBody(
            framing: isEmpty ? .none : length.map { .length($0) } ?? .chunked, contentLength: length, source: source)
    }

    private func nothingStubbed(for request: HTTPTransportRequest) -> HTTPClientError {
        let url = request.url
        return HTTPClientError(
            .engine, phase: .request,  // nothing that a retry would take for a network failure
            message: "nothing is stubbed for \(url) (\(request.head.method.rawValue)); "
                + "call answer(\"\(url)\", …) before the request")
    }
}

/// Reports to a request's observer what a real transport would.
final class StubStory: Sendable {
    private let observer: (@Sendable (HTTPEvent) -> Void)?
    private let length: Int64?
    private let sentBytes = Locked<Int64>(0)

    init(of request: HTTPTransportRequest, isTold: Bool) {
        observer = isTold ? request.observer : nil
        length = request.body.length
        observer?(.queued)
    }

    func started() {
        observer?(.started)
        observer?(.connected(HTTPConnection()))
    }

    func sent(_ count: Int) {
        sentBytes.withLock { $0 = Int64(count) }
        observer?(.sent(bytes: Int64(count), of: length))
    }

    func responded(_ status: HTTPResponse.Status) { observer?(.head(status)) }

    func ended(received: Int64, _ result: Result<Void, any Error>) {
        var timings = HTTPTimings()
        timings.sentBytes = sentBytes.withLock { $0 }
        timings.receivedBytes = received
        timings.connection = HTTPConnection()
        switch result {
        case .success: observer?(.finished(timings))
        case .failure(let error): observer?(.failed(error as? HTTPClientError, timings))
        }
    }
}
