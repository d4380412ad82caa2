// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The meeting place of a body's producer and an engine's thread, for one sending. No lock is held where anybody is
/// resumed, and only the engine's side resumes.
package final class UploadPipe: Sendable {
    /// What the engine gets.
    package enum Taking: Sendable, Equatable {
        /// So many bytes, at least one.
        case bytes(Int)
        /// Nothing is here yet; the engine will be told.
        case wait
        /// The body is whole.
        case end
        /// There is no whole body; see ``UploadPipe/failure``.
        case failed
    }

    /// Which sending a production runs for: later ones have higher numbers, whichever of them a thread runs first.
    @TaskLocal package static var number: UInt64 = 0
    private static let count = Locked<UInt64>(0)

    private let number: UInt64
    private let machine: Locked<UploadMachine<Suspension>>
    private let tell: @Sendable () -> Void

    /// - Parameters:
    ///   - length: How many bytes there will be, where that is known.
    ///   - highMark: Bytes that may wait for the engine.
    ///   - tell: Tells the engine, which found nothing to send or has to know of a failure, to look again. Called on
    ///     any thread.
    package init(length: Int64?, highMark: Int = 256 * 1024, tell: @escaping @Sendable () -> Void) {
        number = Self.count.withLock { count in
            count += 1
            return count
        }
        machine = Locked(UploadMachine(length: length, highMark: highMark))
        self.tell = tell
    }

    // MARK: The producer's side

    /// Runs a production to its end or to its failure.
    package func run(_ production: BodyProduction) async {
        var failure: (any Error)?
        do {
            try await Self.$number.withValue(number) {
                try await production.run(BodySink { try await self.send($0) })
            }
        } catch {
            failure = error
        }
        if machine.withLock({ [failure] in $0.finish(throwing: failure) }) { tell() }
    }

    private func send(_ chunk: HTTPBody.Chunk) async throws {
        while true {
            switch machine.withLock({ $0.offer(chunk) }) {
            case .taken(let wakes):
                if wakes { tell() }
                return
            case .full: await waitForRoom()
            case .failed(let error): throw error
            case .stopped: throw CancellationError()
            }
        }
    }

    /// Ends by the engine, which stops the pipe before it cancels the producer: hence no cancellation handler.
    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let suspension = Suspension(continuation)
            if !machine.withLock({ $0.park(suspension) }) { suspension.resume() }
        }
    }

    // MARK: The engine's side

    /// Copies bytes into `memory`, as many as may go.
    package func take(into memory: UnsafeMutableRawBufferPointer) -> Taking {
        switch machine.withLock({ $0.take(into: memory) }) {
        case .bytes(let count): .bytes(count)
        case .wait: .wait
        case .end: .end
        case .failed: .failed
        }
    }

    /// Why there is no whole body.
    package var failure: (any Error)? { machine.withLock { $0.failure } }

    /// The turn is over: whom to wake because there is room now.
    package func flush() -> Suspension? { machine.withLock { $0.flush() } }

    /// Nobody wants the body any more: whom to wake, who then ends.
    package func stop() -> Suspension? { machine.withLock { $0.stop() } }
}
