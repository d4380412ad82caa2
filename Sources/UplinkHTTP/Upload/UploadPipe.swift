// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

/// The meeting place of a body's producer and an engine's thread, for one transmission. Nobody is resumed while a lock
/// is held, and only the engine's side resumes.
package final class UploadPipe: Sendable {
    /// The transmission that a production runs for: later ones have higher numbers, regardless of which one a thread
    /// runs first.
    @TaskLocal package static var number: UInt64 = 0
    private static let count = Locked<UInt64>(0)

    private let number: UInt64
    private let machine: Locked<UploadMachine<Suspension>>
    private let tell: @Sendable () -> Void

    /// - Parameters:
    ///   - length: How many bytes there will be, if that is known.
    ///   - highMark: The most bytes that may wait for the engine.
    ///   - tell: Tells the engine to look again, because it had found nothing to send or has to learn of a failure.
    ///     Called on any thread.
    package init(length: Int64?, highMark: Int = 256 * 1024, tell: @escaping @Sendable () -> Void) {
        number = Self.count.withLock { count in
            count += 1
            return count
        }
        machine = Locked(UploadMachine(length: length, highMark: highMark))
        self.tell = tell
    }

    // MARK: The producer's side

    /// Runs a production until it ends or fails. One that nobody wants any more, when its task comes to run, does not
    /// begin: its body can still be sent.
    package func run(_ production: BodyProduction) async {
        if machine.withLock({ $0.isStopped }) { return }
        var failure: (any Error)?
        do {
            try await Self.$number.withValue(number) {
                try await production.run(
                    BodySink(isClosed: { self.machine.withLock(\.isStopped) }) { try await self.send($0) })
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

    /// The engine ends this wait, because it stops the pipe before it cancels the producer; hence no cancellation
    /// handler.
    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let suspension = Suspension(continuation)
            if !machine.withLock({ $0.park(suspension) }) { suspension.resume() }
        }
    }

    // MARK: The engine's side

    /// Copies as many bytes as may be sent into `memory`. If the body has failed, ``failure`` says why.
    package func take(into memory: UnsafeMutableRawBufferPointer) -> UploadReading {
        machine.withLock { $0.take(into: memory) }
    }

    /// The reason why the body is not complete.
    package var failure: (any Error)? { machine.withLock { $0.failure } }

    /// The turn is over. Returns the producer to wake if there is room now.
    package func flush() -> Suspension? { machine.withLock { $0.flush() } }

    /// Nobody wants the body any more. Returns the producer to wake, which then ends.
    package func stop() -> Suspension? { machine.withLock { $0.stop() } }
}
