// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// Receives signals on the event loop until the process ends, and hands them on as a stream.
actor Signals: LoopActor {
    nonisolated let eventLoop = EventLoop.shared
    nonisolated let received: AsyncStream<CInt>
    private let continuation: AsyncStream<CInt>.Continuation
    private var watchers: [SignalWatcher] = []
    /// All instances, kept for ever: libuv cleans up its signals at exit, and aborts if a watcher is being closed
    /// meanwhile.
    private static let kept = Locked<[Signals]>([])

    init() { (received, continuation) = AsyncStream.makeStream() }

    /// Takes over these signals, except those that the program was started with ignored (`nohup`, `&`).
    func watch(_ signals: [CInt], _ react: @escaping @Sendable (CInt) -> Void = { _ in }) throws {
        Self.kept.withLock { $0.append(self) }
        for signal in signals where !Self.isIgnored(signal) {
            let watcher = try SignalWatcher(of: signal, for: self) { signals in
                react(signal)
                signals.continuation.yield(signal)
            }
            watchers.append(watcher)
        }
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
