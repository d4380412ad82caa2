// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// Receives signals on the event loop until the process ends, and hands them on as a stream.
actor Signals: LoopActor {
    nonisolated let eventLoop = EventLoop.shared
    nonisolated let received: AsyncStream<CInt>
    private let continuation: AsyncStream<CInt>.Continuation
    private var watchers: [CInt: SignalWatcher] = [:]
    /// All instances, kept for ever: libuv cleans up its signals at exit, and aborts if a watcher is being closed
    /// meanwhile.
    private static let kept = Locked<[Signals]>([])

    init() { (received, continuation) = AsyncStream.makeStream() }

    /// Takes over these signals, except those that the program was started with ignored (`nohup`, `&`).
    func watch(_ signals: [CInt], _ react: @escaping @Sendable (CInt) -> Void = { _ in }) throws {
        Self.kept.withLock { $0.append(self) }
        for signal in signals where !Self.isIgnored(signal) { try watch(signal, react) }
    }

    private func watch(_ signal: CInt, _ react: @escaping @Sendable (CInt) -> Void = { _ in }) throws {
        watchers[signal] = try SignalWatcher(of: signal, for: self) { signals in
            react(signal)
            signals.continuation.yield(signal)
        }
    }

    /// Gives all signals back to the system, for a program that takes this one's place. Returns when those that came
    /// before have been handed on.
    static func giveBack() async throws {
        let all = kept.withLock { $0 }
        for signals in all { await signals.giveBack() }
        try await Signals().waitForThoseBefore()
    }

    /// Does not close the watchers: see ``kept``.
    private func giveBack() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = SIG_DFL
        for signal in watchers.keys { sigaction(signal, &action, nil) }
    }

    /// libuv hands all signals on in the order in which they came, so one that we send ourselves is the last. It goes to
    /// the main thread, which alone handles signals: libuv's handler blocks all others, so that this one waits even for
    /// one that the thread has taken but not yet handled. It is the one whose setting ``InheritedSignals`` restores.
    private func waitForThoseBefore() async throws {
        Self.kept.withLock { $0.append(self) }
        try watch(SIGPIPE)
        guard let main = InheritedSignals.mainThread, pthread_kill(main, SIGPIPE) == 0 else { return }
        for await _ in received { return }
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
