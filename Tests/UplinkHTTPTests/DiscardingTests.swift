// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP

/// A body in pieces of a kilobyte, which notes what becomes of it.
private final class Pieces: HTTPBodySource {
    struct State: Sendable {
        var left: Int
        var isRead = false
        var isCancelled = false
        var limits: [Duration] = []
    }

    private let locked: Locked<State>

    init(_ count: Int) { locked = Locked(State(left: count)) }

    var state: State { locked.withLock { $0 } }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        let isThere = locked.withLock { state in
            state.isRead = state.left == 0
            if state.left > 0 { state.left -= 1 }
            return !state.isRead
        }
        return isThere ? HTTPBody.Chunk([UInt8](repeating: 0, count: 1024)) : nil
    }

    func cancel() { locked.withLock { $0.isCancelled = true } }

    func limit(toRemaining total: Duration) { locked.withLock { $0.limits.append(total) } }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try work()
    }

    var trailerFields: HTTPFields? { nil }
}

/// What becomes of bodies that nobody wants: those of redirects, refusals and failed attempts.
@Suite(.timeLimit(.minutes(1)))
struct DiscardingTests {
    @Test(arguments: [HTTPBody.Framing.length(16 * 1024), .chunked])
    func aShortBodyIsReadToItsEnd(_ framing: HTTPBody.Framing) async throws {
        let pieces = Pieces(16)
        await HTTPBody(framing: framing, contentLength: nil, source: pieces).discardIfShort()
        #expect(pieces.state.isRead)
        #expect(pieces.state.limits == [.seconds(1)])
    }

    @Test func aLongOneInChunksIsLetGoOf() async throws {
        let pieces = Pieces(100)
        await HTTPBody(framing: .chunked, contentLength: nil, source: pieces).discardIfShort()
        #expect(pieces.state.left == 100 - 17)
        #expect(pieces.state.isCancelled)
    }

    @Test(arguments: [HTTPBody.Framing.length(16 * 1024 + 1), .untilClose])
    func whatIsNotWorthReadingIsNotRead(_ framing: HTTPBody.Framing) async throws {
        let pieces = Pieces(1)
        await HTTPBody(framing: framing, contentLength: nil, source: pieces).discardIfShort()
        #expect(pieces.state.left == 1)
        #expect(pieces.state.isCancelled)
    }

    /// It may not come for ever.
    @Test(arguments: [nil, Int64(2)]) func aBodyThatKeepsNoTimeIsNotWaitedFor(_ length: Int64?) async throws {
        let isAsked = Locked(false)
        let body = HTTPBody(
            contentLength: length,
            pulling: {
                isAsked.withLock { $0 = true }
                return nil
            })
        await body.discardIfShort()
        #expect(!isAsked.withLock { $0 })
    }

    @Test func whatIsInMemoryNeedsNoTime() async throws {
        struct Refusing: HTTPTransport {
            let requests: Notes<String?>

            func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
                requests.add(request.head.headerFields[.authorization])
                return HTTPTransportResponse(head: HTTPResponse(status: .unauthorized), body: HTTPBody([1, 2]))
            }
        }
        let requests = Notes<String?>()
        let client = HTTPClient(
            Refusing(requests: requests), try .bearer(for: ["https://a.example"]) { _ in "same" })
        let response = try await client.get("https://a.example/")
        #expect(response.status == .unauthorized)
        #expect(try await response.body.collect(upTo: 2) == [1, 2])  // the first refusal, which was kept
        #expect(requests.all == ["Bearer same"])
    }
}
