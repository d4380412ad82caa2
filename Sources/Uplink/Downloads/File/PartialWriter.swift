// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// Has a file written where that holds nobody up: on libuv's threads, in order, so many bytes behind at most.
final class PartialWriter: Sendable {
    private struct Shared {
        var queue = WriteQueue()
        /// The one task that reads the network waits here: for room, or for all to be written.
        var waiter: CheckedContinuation<Void, Never>?
        var waitsForAll = false

        mutating func wake() -> CheckedContinuation<Void, Never>? {
            guard queue.hasFailed || (waitsForAll ? queue.isIdle : queue.hasRoom) else { return nil }
            defer { waiter = nil }
            return waiter
        }
    }

    let file: PartialFile
    private let loop: EventLoop
    private let shared = Locked(Shared())

    /// What one turn on a thread of the pool may write before others have theirs.
    private static let turn = 8 << 20

    init(_ file: PartialFile, on loop: EventLoop) { (self.file, self.loop) = (file, loop) }

    /// Takes a chunk, and waits while too many are on their way.
    ///
    /// - Throws: ``DownloadError`` when an earlier one could not be written.
    func write(_ chunk: HTTPBody.Chunk) async throws {
        if try shared.withLock({ try $0.queue.push(chunk) }) { startWriting() }
        await wait(forAll: false)
    }

    /// Waits until everything is written. Not cancelled with the task.
    func drain() async throws {
        await wait(forAll: true)
        try shared.withLock { if case .failed(let error) = $0.queue.state { throw error } }
    }

    private func wait(forAll: Bool) async {
        let mustWait = shared.withLock { shared in
            shared.waitsForAll = forAll
            return !shared.queue.hasFailed && (forAll ? !shared.queue.isIdle : !shared.queue.hasRoom)
        }
        guard mustWait else { return }
        await withCheckedContinuation { continuation in
            let ready = shared.withLock { shared in
                shared.waiter = continuation
                return shared.wake()
            }
            ready?.resume()
        }
    }

    private func startWriting() {
        loop.offLoop(
            { self.write() },
            completion: { result in
                switch result {
                case .success(let isDone): if !isDone { self.startWriting() }
                case .failure(let error): self.fail(error)
                }
            })
    }

    /// One turn on a thread that may block. True when nothing is left.
    private func write() -> Bool {
        var written = 0
        while written < Self.turn {
            let (chunks, ready) = shared.withLock { shared in (shared.queue.take(), shared.wake()) }
            ready?.resume()
            guard let chunks else { return true }
            do {
                for chunk in chunks {
                    try file.append(chunk)
                    written += chunk.count
                }
            } catch {
                fail(error)
                return true
            }
        }
        return false
    }

    private func fail(_ error: any Error) {
        let ready = shared.withLock { shared in
            shared.queue.fail(error)
            return shared.wake()
        }
        ready?.resume()
    }
}
