// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// The keys that are pressed, while the terminal delivers them immediately.
actor Keyboard: LoopActor {
    nonisolated let eventLoop = EventLoop.shared
    /// Every key, until the input ends or ``stop()``.
    nonisolated let keys: AsyncStream<Key>
    private let pressed: AsyncStream<Key>.Continuation
    private var parser = KeyParser()
    private var watcher: DescriptorWatcher?
    private var timer: LoopTimer?
    private var descriptor: CInt = -1

    init() { (keys, pressed) = AsyncStream.makeStream() }

    /// Starts listening.
    func start() throws {
        // The terminal is opened again: otherwise the standard input would become non-blocking for the shell, too.
        let flags = O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        descriptor = open("/proc/self/fd/0", flags)
        // After `su` the terminal's own path still belongs to another user.
        if descriptor < 0, errno == EACCES { descriptor = open("/dev/tty", flags) }
        guard descriptor >= 0 else { throw TerminalError(errno: errno) }
        timer = try LoopTimer(for: self) { keyboard in keyboard.timeOut() }
        watcher = try DescriptorWatcher(of: descriptor, for: self) { keyboard, _ in keyboard.read() }
        watcher?.start(.readable)
    }

    /// Stops listening.
    func stop() {
        watcher?.close()
        watcher = nil
        timer = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        pressed.finish()
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return stop() }
        for key in parser.take(buffer.prefix(count)) { pressed.yield(key) }
        if let patience = parser.patience { timer?.start(after: patience) } else { timer?.stop() }
    }

    private func timeOut() {
        if let key = parser.timeOut() { pressed.yield(key) }
    }
}
