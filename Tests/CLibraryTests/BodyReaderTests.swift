// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkHTTP

@testable import UplinkC

/// Which of several sendings of a body the program is asked for.
@Suite(.timeLimit(.minutes(1)))
struct BodyReaderTests {
    private func pieces(of id: CallMachine.ID, in context: Context, ofLength room: Int64) -> BodyPieces {
        let source = RequestBox.Source(
            length: room, canRewind: true,
            read: { _, _, _, bytes, count, _ in
                bytes?.initializeMemory(as: UInt8.self, repeating: 7, count: count)
                return Int64(count)
            }, user: UserPointer(nil))
        return BodyPieces(reader: BodyReader(source), id: id, context: context)
    }

    /// A producer is begun on another thread than the engine's, which may run an older one, of a request that was
    /// redirected, after the newer one.
    @Test func asksForTheNewestThoughAnOlderOneBeginsLater() async throws {
        let context = try Context(ContextOptions(nil))
        let call = WatchCall({ _, _, _, _, _ in }, UserPointer(nil))
        let id = try #require(context.queue.update { $0.add(call) })
        let pieces = pieces(of: id, in: context, ofLength: 3)

        var newer = UploadPipe.$number.withValue(2) { pieces.makeAsyncIterator() }
        var older = UploadPipe.$number.withValue(1) { pieces.makeAsyncIterator() }
        #expect(try await newer.next() == [7, 7, 7])
        await #expect(throws: CancellationError.self) { try await older.next() }

        context.queue.update { $0.end(id, nil) }
        try await offPool { #expect(context.destroy() == Status.ok) }
    }
}
