// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore

@testable import UplinkHTTP

/// Undoing content codings, without zlib: with codings that are easily undone.
@Suite(.timeLimit(.minutes(1)))
struct DecodingTests {
    /// Each byte stands for so many of its kind; a zero ends, unless the end of what comes does.
    private final class Repeating: ContentDecoder, @unchecked Sendable {  // one test, one thread
        private let times: Int
        private var pending: (byte: UInt8, count: Int) = (0, 0)
        private let endsByItself: Bool
        private var hasEnded = false
        var isComplete: Bool { hasEnded || !endsByItself }

        init(times: Int, endsByItself: Bool = true) { (self.times, self.endsByItself) = (times, endsByItself) }

        func decode(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) -> (taken: Int, made: Int, fault: DecodingFault?) {
            guard !hasEnded, input.first != 0xFF else { return (0, 0, .damaged) }
            var taken = 0
            if pending.count == 0, let byte = input.first {
                taken = 1
                if byte == 0 { hasEnded = true } else { pending = (byte, times) }
            }
            let made = min(pending.count, output.count)
            for index in 0..<made { output[index] = pending.byte }
            pending.count -= made
            return (taken, made, nil)
        }
    }

    private func body(_ pieces: [[UInt8]], times: Int, maximumRatio: Int = 1000) -> HTTPBody {
        let rest = pieces.makeIterator()
        let source = PulledSource(next: { [box = Box(rest)] in box.next() })
        let reader = BodyReader(source)
        let machine = DecodingMachine(Repeating(times: times), maximumRatio: maximumRatio)
        return HTTPBody(
            framing: .chunked, contentLength: nil, source: DecodedSource(source, machine, keeping: reader))
    }

    private final class Box: @unchecked Sendable {  // one test, one reader
        private var pieces: IndexingIterator<[[UInt8]]>
        init(_ pieces: IndexingIterator<[[UInt8]]>) { self.pieces = pieces }
        func next() -> [UInt8]? { pieces.next() }
    }

    @Test func whatCameIsDecodedInItsOrder() async throws {
        let decoded = try await body([[1, 2], [], [3], [0]], times: 3).collect(upTo: 100)
        #expect(decoded == [1, 1, 1, 2, 2, 2, 3, 3, 3])
    }

    @Test func eachPieceIsReadableBeforeTheNextOneComes() async throws {
        var iterator = body([[1], [2], [0]], times: 2).makeAsyncIterator()
        #expect(try await iterator.next()?.bytes == [1, 1])
        #expect(try await iterator.next()?.bytes == [2, 2])
        #expect(try await iterator.next() == nil)
    }

    @Test func aPieceThatBecomesMuchComesInSlabs() async throws {
        var (sizes, total): ([Int], Int) = ([], 0)
        for try await chunk in body([[7, 0]], times: 300_000) {
            sizes.append(chunk.count)
            total += chunk.count
        }
        #expect(total == 300_000)
        #expect(sizes.allSatisfy { $0 <= SlabPool.slabSize } && sizes.count == 3)
    }

    @Test func aSlabThatIsExactlyFullLosesNothing() async throws {
        let decoded = try await body([[7, 8, 0]], times: SlabPool.slabSize).collect(upTo: 1 << 20)
        #expect(decoded.count == 2 * SlabPool.slabSize)
        #expect(decoded.first == 7 && decoded.last == 8)
    }

    @Test func whatBreaksOffIsAnError() async {
        await #expect(throws: HTTPClientError.self) { try await body([[1], [2]], times: 2).collect(upTo: 100) }
        let error = await #expect(throws: HTTPClientError.self) {
            try await body([[1, 2]], times: 2).collect(upTo: 100)
        }
        #expect(error?.code == .truncated)
        #expect(error?.receivedBytes == 2)
    }

    @Test func whatIsDamagedIsAnError() async {
        let error = await #expect(throws: HTTPClientError.self) {
            try await body([[1, 0xFF]], times: 2).collect(upTo: 100)
        }
        #expect(error?.code == .invalidEncoding)
        #expect(error?.receivedBytes == 2)  // with those that were not decoded
    }

    /// Whether the fault comes with the same piece, or with the next.
    @Test(arguments: [[[1, 2, 0xFF]], [[1, 2], [0xFF]]] as [[[UInt8]]])
    func whatCameBeforeTheDamageIsNotLost(_ pieces: [[UInt8]]) async throws {
        var iterator = body(pieces, times: 2).makeAsyncIterator()
        #expect(try await iterator.next()?.bytes == [1, 1, 2, 2])
        await #expect(throws: HTTPClientError.self) { try await iterator.next() }
    }

    @Test func nothingAtAllIsAnEmptyBody() async throws {
        #expect(try await body([], times: 2).collect(upTo: 1).isEmpty)
    }

    @Test func whatGrowsTooMuchIsAnErrorAndALittleIsNot() async throws {
        #expect(try await body([[1, 0]], times: 1 << 20, maximumRatio: 2).collect(upTo: 1 << 21).count == 1 << 20)
        let error = await #expect(throws: HTTPClientError.self) {
            try await body([[1, 2, 3, 0]], times: 1 << 20, maximumRatio: 1000).collect(upTo: 1 << 30)
        }
        #expect(error?.code == .compressionRatioExceeded)
    }

    /// Each of the codings stays within the ratio, and the body does not.
    @Test func whatGrowsTooMuchInSeveralStepsIsAnError() async throws {
        func body(maximumRatio: Int) -> HTTPBody {
            let rest = ([[UInt8](repeating: 1, count: 15) + [0]] as [[UInt8]]).makeIterator()
            let inner = PulledSource(next: { [box = Box(rest)] in box.next() })
            let (reader, arrived) = (BodyReader(inner), Locked<Int64>(0))
            let first = DecodingMachine(Repeating(times: 400), maximumRatio: maximumRatio, arrived: arrived)
            let second = DecodingMachine(
                Repeating(times: 400, endsByItself: false), maximumRatio: maximumRatio, arrived: arrived, isFirst: false
            )
            return HTTPBody(
                framing: .chunked, contentLength: nil,
                source: DecodedSource(DecodedSource(inner, first, keeping: reader), second, keeping: reader))
        }
        let size = 15 * 400 * 400
        #expect(try await body(maximumRatio: 200_000).collect(upTo: size).count == size)
        let error = await #expect(throws: HTTPClientError.self) {
            try await body(maximumRatio: 1000).collect(upTo: size)
        }
        #expect(error?.code == .compressionRatioExceeded)
    }

    @Test(arguments: [
        ("gzip", ["gzip"]), (" GZIP , identity", ["gzip"]), ("identity", []), ("deflate, gzip", ["deflate", "gzip"]),
    ])
    func codingsAreReadInTheirOrder(field: String, names: [String]) {
        let response = HTTPResponse(status: .ok, headerFields: [.contentEncoding: field])
        #expect(ContentCoding.names(in: response) == names)
    }

    @Test func tooManyCodingsAreRefused() {
        let response = HTTPResponse(status: .ok, headerFields: [.contentEncoding: "gzip, gzip, gzip"])
        let error = #expect(throws: HTTPClientError.self) {
            _ = try ContentCoding.decoded(HTTPBody([1]), of: response, limits: HTTPLimits())
        }
        #expect(error?.code == .tooManyEncodings)
    }

    @Test(arguments: ["br", "gzip", "gzip, gzip, gzip"])
    func aBodyWithoutContentNeedsNoDecoder(codings: String) async throws {
        let response = HTTPResponse(status: .ok, headerFields: [.contentEncoding: codings])
        let body = try ContentCoding.decoded(HTTPBody([]), of: response, limits: HTTPLimits())
        #expect(body.contentLength == 0)
        #expect(try await body.collect(upTo: 1) == [])
    }

    @Test func anUnknownCodingIsRefused() {
        let response = HTTPResponse(status: .ok, headerFields: [.contentEncoding: "br"])
        let error = #expect(throws: HTTPClientError.self) {
            _ = try ContentCoding.decoded(HTTPBody([1]), of: response, limits: HTTPLimits())
        }
        #expect(error?.code == .unsupportedEncoding)
    }
}
