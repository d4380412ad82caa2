// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
    private struct Broken: Error {}

    /// It is not looked up in another one later.
    @Test func inADirectoryThatIsGoneARelativePathIsNowhere() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let gone = directory.path.appending("gone").string
        let path = try await onUnsharedThread {
            guard mkdir(gone, 0o700) == 0, chdir(gone) == 0, rmdir(gone) == 0 else {
                throw SetupFailure(activity: "leaving no directory", errno: errno)
            }
            return FilePath("file").absolute
        }
        #expect(path.isAbsolute && path.lastComponent == "file")
        #expect(access(path.string, F_OK) != 0)
    }

    /// A sequence that can be iterated as often as one likes.
    struct Pieces: AsyncSequence, Sendable {
        let pieces: [[UInt8]]

        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<[UInt8]>
            mutating func next() async throws -> [UInt8]? { rest.popFirst() }
        }

        func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...]) }
    }

    struct EmptyPieces: AsyncSequence, Sendable {
        static let most = 1_000_000
        let asked: Locked<Int>

        struct Iterator: AsyncIteratorProtocol {
            let asked: Locked<Int>
            mutating func next() async -> [UInt8]? {
                await Task.yield()
                return asked.withLock { asked in
                    asked += 1
                    return asked < most ? [] : nil
                }
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(asked: asked) }
    }

    private func code(_ body: () async throws -> Void) async -> HTTPClientError.Code? {
        await #expect(throws: HTTPClientError.self) { try await body() }?.code
    }

    @Test func bytesTextAndJSONAreWhatTheyAre() async throws {
        #expect(HTTPRequestBody.none.length == nil)
        #expect(HTTPRequestBody.bytes([1, 2]).length == 2)
        #expect(HTTPRequestBody.bytes([1, 2]).contentType == nil)
        #expect(try await HTTPRequestBody.text("ü").collect(upTo: 2) == [0xC3, 0xBC])
        #expect(HTTPRequestBody.json([0x7B, 0x7D]).contentType == "application/json")
        #expect(await code { _ = try await HTTPRequestBody.text("ab").collect(upTo: 1) } == .bodyTooLarge)
    }

    @Test func aSequenceIsSentPieceByPiece() async throws {
        let large = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let pieces = Pieces(pieces: [[1], [], [2, 3], large])
        let body = HTTPRequestBody.stream(pieces, length: 300_003, isReplayable: true)
        for _ in 0..<2 { #expect(try await body.collect(upTo: 300_003) == [1, 2, 3] + large) }
        #expect(body.isReplayable && !body.isSpent)
    }

    /// A sequence that looks again and again whether there is anything, in a task that is cancelled.
    @Test(arguments: [nil, 0, 10]) func aSequenceOfEmptyPiecesEndsWithItsRequest(length: Int64?) async throws {
        let asked = Locked(0)
        let body = HTTPRequestBody.stream(EmptyPieces(asked: asked), length: length)
        let task = Task { try await body.collect(upTo: 10) }
        try await eventually { asked.withLock { $0 } > 10 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(asked.withLock { $0 } < EmptyPieces.most)
    }

    /// As a file that is rewound: two iterations at the same time would share its pieces.
    @Test(arguments: [false, true]) func anIterationBeginsWhenTheAbandonedOneHasEnded(inAForm: Bool) async throws {
        let (begun, gate) = (Notes<Int>(), Gate())
        let (isClosed, isNextClosed) = (Locked(false), Locked(false))
        let pieces = BodyStream.pieces(length: nil, isReplayable: true) { send in
            begun.add(begun.all.count)
            await gate.pass()  // not cancellable, as the disk
            try await send.bytes([1])
        }
        let part = HTTPFormPart(name: "a", body: HTTPRequestBody(.stream(pieces)))
        let stream = inAForm ? MultipartForm([part]).stream : pieces
        func run(_ isClosed: @escaping @Sendable () -> Bool = { false }) async throws -> Task<Void, any Error> {
            let production = try await stream.prepare(InlineWork())
            return Task { try await production.run(BodySink(isClosed: isClosed) { _ in }) }
        }
        let first = try await run { isClosed.withLock { $0 } }
        try await eventually { gate.waiting == 1 }
        let beside = try await run()
        try await eventually { gate.waiting == 2 }  // of another request
        isClosed.withLock { $0 = true }
        let cancelled = try await run()
        let abandoned = try await run { isNextClosed.withLock { $0 } }
        for _ in 0..<1000 { await Task.yield() }
        cancelled.cancel()
        isNextClosed.withLock { $0 = true }
        let next = try await run()
        for _ in 0..<1000 { await Task.yield() }
        #expect(begun.all == [0, 1])
        gate.open()
        for task in [first, beside, next] { try await task.value }
        for task in [cancelled, abandoned] {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(begun.all == [0, 1, 2])
    }

    @Test func aBodyThatAnotherRequestHasUsedUpIsNotBegunWith() async throws {
        let transport = StubTransport()
        transport.respond { _ in .text("a") }
        let client = HTTPClient(transport)
        let body = HTTPRequestBody.stream(Pieces(pieces: [[1]]))
        _ = try await body.collect(upTo: 1)
        let error = await #expect(throws: HTTPClientError.self) {
            try await client.put("https://a.example/", body: body)
        }
        #expect(error?.code == .bodyNotReplayable && error?.requestDisposition == .notSent)
        #expect(transport.requests.isEmpty)
    }

    @Test func aSequenceThatIsGoneIsNotSentAgain() async throws {
        let body = HTTPRequestBody.stream(Pieces(pieces: [[1]]))
        #expect(!body.isSpent)
        _ = try await body.collect(upTo: 1)
        #expect(body.isSpent)
        #expect(await code { _ = try await body.collect(upTo: 1) } == .bodyNotReplayable)
    }

    /// It is asked before the request is sent, and has nothing then or ever.
    @Test func aSequenceOfNothingIsNeverGone() async throws {
        let body = HTTPRequestBody.stream(Pieces(pieces: []), length: 0)
        for _ in 0..<2 {
            #expect(try await body.collect(upTo: 1) == [])
            #expect(!body.isSpent)
        }
        let more = HTTPRequestBody.stream(Pieces(pieces: [[1]]), length: 0)
        #expect(await code { _ = try await more.collect(upTo: 1) } == .bodyLengthMismatch)
        #expect(more.isSpent)
        #expect(await code { _ = try await more.collect(upTo: 1) } == .bodyNotReplayable)
    }

    /// It shows before anything goes to a server.
    @Test func whatShouldBeEmptyAndIsNotWasNotSent() async {
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await HTTPRequestBody.stream(Pieces(pieces: [[1]]), length: 0).prepare(blocking: InlineWork())
        }
        #expect(error?.code == .bodyLengthMismatch)
        #expect(error?.phase == .request && error?.requestDisposition == .notSent)
        // A file of the kernel's, whose size is said to be zero.
        let other = await #expect(throws: HTTPClientError.self) {
            _ = try await HTTPRequestBody.file("/proc/self/status").prepare(blocking: InlineWork())
        }
        #expect(other?.code == .bodyLengthMismatch && other?.requestDisposition == .notSent)
    }

    @Test(arguments: [Int64(0), 1, 3]) func aWrongLengthIsAnError(_ length: Int64) async {
        let body = HTTPRequestBody.stream(Pieces(pieces: [[1], [2]]), length: length)
        #expect(await code { _ = try await body.collect(upTo: 9) } == .bodyLengthMismatch)
    }

    @Test func chunksOfAnotherBodyCanBeSent() async throws {
        #expect(try await HTTPRequestBody.stream(HTTPBody([1, 2, 3])).collect(upTo: 3) == [1, 2, 3])
    }

    // MARK: Files

    private func withDirectory(_ body: (TemporaryDirectory) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await body(directory)
    }

    @Test(arguments: [0, 1, 131_071, 131_072, 131_073, 1_000_000]) func aFileIsSentAsItIs(_ size: Int) async throws {
        try await withDirectory { directory in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try directory.write("file", bytes)
            let body = HTTPRequestBody.file(directory.path.appending("file"))
            #expect(try await body.prepare(blocking: InlineWork()).length == Int64(size))
            for _ in 0..<2 { #expect(try await body.collect(upTo: size) == bytes) }
        }
    }

    @Test(arguments: [-1, 1]) func aFileThatChangesMeanwhileIsAnError(_ change: Int) async throws {
        try await withDirectory { directory in
            let bytes = [UInt8](repeating: 1, count: 200_000)
            try directory.write("file", bytes)
            let body = HTTPRequestBody.file(directory.path.appending("file"))
            guard case .production(let production) = try await body.prepare(blocking: InlineWork()).content else {
                Issue.record("no production")
                return
            }
            let code = await code {
                try await production.run(
                    BodySink { _ in try directory.write("file", Array((bytes + [1]).prefix(bytes.count + change))) })
            }
            #expect(code == .bodyLengthMismatch)
        }
    }

    @Test func whatIsNoRegularFileIsRefused() async throws {
        for path in ["/nonexistent", "/dev/null", "/tmp"] as [FilePath] {
            let error = await #expect(throws: HTTPClientError.self) {
                try await HTTPRequestBody.file(path).collect(upTo: 0)
            }
            #expect(error?.code == .fileFailed)
            #expect(error?.requestDisposition == .notSent)
        }
    }

    // MARK: Fields from strings

    @Test func fieldsFromStringsAreChecked() async throws {
        let fields = try HTTPFields(checking: [("X-A", " b\tc "), ("x-a", ""), ("Accept", "ü")])
        #expect(fields[values: HTTPField.Name("X-A")!] == ["b\tc", ""])
        #expect(fields[.accept] == "ü")
        let bad = [
            ("", "x"), ("X A", "x"), ("X-A:", "x"), ("X-A\r\nX-B", "x"), ("ü", "x"), ("X\u{0}", "x"),
            ("X-A", "b\r\nX: y"),
            ("X-A", "b\nc"), ("X-A", "\r"), ("X-A", "\u{0}"), ("X-A", "\u{7F}"), ("X-A", "\u{1B}[m"),
        ]
        for field in bad {
            let code = await code { _ = try HTTPFields(checking: [field]) }
            #expect(code == .invalidRequest, "\(field)")
        }
    }
}
