// SPDX-License-Identifier: Apache-2.0
import CUplink
import UplinkCore
import UplinkHTTP

/// Asks the program for a request's body, piece by piece, where its callbacks run.
///
/// A body may be sent more than once, after a redirect or a failed attempt. The program is asked only for the newest
/// sending: the one before it is over, even if it has not learned of its end, or even its beginning, yet.
final class BodyReader: Sendable {
    /// What the program answered.
    fileprivate enum Reading: Sendable {
        /// It was not asked.
        case none
        /// A piece.
        case bytes([UInt8])
        /// The body has ended.
        case end
        /// There are no bytes yet.
        case later
        /// The transfer is to end with this error.
        case failed(any Error)
    }

    /// One sending of the body.
    fileprivate final class Sending: Sendable {
        /// Raised when the program has answered.
        let told = Signal()
        /// Raised when the program may have something again.
        let resumed = Signal()
        let reading = Locked(Reading.none)
        /// See `UploadPipe.number`.
        let number: UInt64

        init(number: UInt64) { self.number = number }

        /// Ends the sending, because the body is no longer wanted.
        func end() {
            told.end()
            resumed.end()
        }
    }

    /// The most bytes to ask for in one call.
    private static let pieceSize = 64 * 1024

    private let source: RequestBox.Source
    private let current = Locked<Sending?>(nil)

    init(_ source: RequestBox.Source) { self.source = source }

    /// Called when the program may have something again.
    func resume() { current.withLock { $0 }?.resumed.raise() }

    fileprivate func begin() -> Sending {
        let sending = Sending(number: UploadPipe.number)
        current.withLock { current in
            if let newer = current, newer.number > sending.number { return }
            current = sending
        }
        return sending
    }

    /// Whether there may be bytes after this offset.
    fileprivate func mayHaveMore(after offset: Int64) -> Bool { source.length.map { offset < $0 } ?? true }

    /// Asks the program, on the thread of its callbacks.
    fileprivate func read(_ offset: Int64, for sending: Sending, of id: CallMachine.ID, in context: Context) {
        guard current.withLock({ $0 === sending }) else { return }
        let room = min(Self.pieceSize, Int(clamping: (source.length ?? .max) - offset))
        let reading = withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { memory -> Reading in
            let count = source.read(context.pointer, id, offset, memory.baseAddress, room, source.user.pointer)
            switch count {
            case 0: return .end
            case Int64(Status.again): return .later
            case 1...Int64(room): return .bytes(Array(memory[..<Int(count)]))
            case ..<0: return .failed(VerdictError(status: CInt(clamping: count)))
            default: return .failed(StatusError(Status.invalid))
            }
        }
        sending.reading.withLock { $0 = reading }
    }
}

/// The pieces of a body that a program gives.
struct BodyPieces: AsyncSequence, Sendable {
    let reader: BodyReader
    let id: CallMachine.ID
    let context: Context

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self, sending: reader.begin()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let pieces: BodyPieces
        fileprivate let sending: BodyReader.Sending
        private var offset: Int64 = 0

        fileprivate init(pieces: BodyPieces, sending: BodyReader.Sending) {
            (self.pieces, self.sending) = (pieces, sending)
        }

        mutating func next() async throws -> [UInt8]? {
            while pieces.reader.mayHaveMore(after: offset) {
                switch try await ask() {
                case .none: throw CancellationError()
                case .bytes(let bytes):
                    offset += Int64(bytes.count)
                    return bytes
                case .end: return nil
                case .later: try await wait(for: sending.resumed)
                case .failed(let error): throw error
                }
            }
            return nil
        }

        private func ask() async throws -> BodyReader.Reading {
            sending.resumed.clear()
            let event = CallMachine.Delivery(kind: .event(pieces.id)) { [pieces, sending, offset] in
                pieces.reader.read(offset, for: sending, of: pieces.id, in: pieces.context)
                sending.told.raise()
            } drop: { [sending] in
                sending.told.raise()
            }
            guard pieces.context.queue.update({ $0.post(event) }) else { throw CancellationError() }
            try await wait(for: sending.told)
            return sending.reading.withLock { reading in
                defer { reading = .none }
                return reading
            }
        }

        private func wait(for signal: Signal) async throws {
            await withTaskCancellationHandler {
                await signal.wait()
            } onCancel: { [sending] in
                sending.end()
            }
            try Task.checkCancellation()
        }
    }
}
