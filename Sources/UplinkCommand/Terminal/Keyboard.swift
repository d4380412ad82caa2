// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// The keys that are pressed, while the terminal gives them at once.
actor Keyboard: LoopActor {
    nonisolated let eventLoop = EventLoop.shared
    /// Every character typed, until the input ends or ``stop()``. Escape sequences are skipped.
    nonisolated let keys: AsyncStream<Character>
    private let typed: AsyncStream<Character>.Continuation
    private var watcher: DescriptorWatcher?
    private var descriptor: CInt = -1

    init() { (keys, typed) = AsyncStream.makeStream() }

    /// Listens from now on.
    func start() throws {
        // Opened anew: the standard input would become non-blocking for the shell as well.
        descriptor = open("/proc/self/fd/0", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw TerminalError(errno: errno) }
        watcher = try DescriptorWatcher(of: descriptor, for: self) { keyboard, _ in keyboard.read() }
        watcher?.start(.readable)
    }

    /// Stops listening.
    func stop() {
        watcher?.close()
        watcher = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        typed.finish()
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return stop() }
        guard buffer[0] != 0x1B else { return }
        for character in String(decoding: buffer.prefix(count), as: UTF8.self) { typed.yield(character) }
    }
}
