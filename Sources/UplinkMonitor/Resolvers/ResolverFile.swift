// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// Reads the resolver's file at the start and whenever it changes: off the loop, so that a hanging file system does not
/// block it.
///
/// The file is watched, and read again, once the monitor has been working for a moment: short subscriptions do not use
/// inotify, which is slow to close and limited in number. If inotify is not available, the file is not read again.
actor ResolverFile: LoopActor {
    nonisolated let eventLoop: EventLoop
    private let path: String
    private let tell: @Sendable ([DNSConfiguration.Resolver]) -> Void
    private var changes: FileChanges?
    private var watcher: DescriptorWatcher?
    private var patience: LoopTimer?
    private var reading = ResolverReading()
    private var isClosed = false

    /// - Parameter tell: Called on the loop's thread.
    init(
        at path: String, on loop: EventLoop, _ tell: @escaping @Sendable ([DNSConfiguration.Resolver]) -> Void
    ) {
        eventLoop = loop
        self.path = path
        self.tell = tell
    }

    /// Begins to read. The name servers are reported when they are known, at the latest after `limit` (then none), and
    /// whenever they change. After `limit` the file is watched.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    func start(within limit: Duration = .milliseconds(100)) throws(EventLoopError) {
        let patience = try LoopTimer(for: self) { $0.momentHasPassed() }
        patience.start(after: limit)
        self.patience = patience
        perform(reading.changed())
    }

    private func momentHasPassed() {
        perform(reading.timeIsUp())
        guard !isClosed, let changes = FileChanges(on: eventLoop) else { return }
        do throws(EventLoopError) {
            let watcher = try DescriptorWatcher(of: changes.descriptor, for: self) { file, _ in file.happened() }
            watcher.start(.readable)
            (self.watcher, self.changes) = (watcher, changes)
            perform(reading.changed())
        } catch {}  // the loop ends
    }

    /// Stops all reports.
    func close() {
        isClosed = true
        watcher?.close()
        watcher = nil
        patience?.stop()
        patience = nil
        changes = nil
    }

    private func happened() {
        if let changes { perform(reading.happened(to: changes.takeNames())) }
    }

    private func perform(_ action: ResolverReading.Action) {
        guard !isClosed else { return }
        switch action {
        case .none: break
        case .read:
            eventLoop.offLoop({ [path, changes] in Content(of: path, changes) }) { [weak self] content in
                self?.assumeIsolated { $0.wasRead(try? content.get()) }
            }
        case .tell(let resolvers): tell(resolvers)
        }
    }

    private func wasRead(_ content: Content?) {
        perform(reading.finished(content?.resolvers ?? [], names: content?.names))
    }
}

extension ResolverFile {
    /// The content of the file, and the names that events about it will have.
    private struct Content: Sendable {
        private static let maximumSize = 65536

        let names: Set<String>
        let resolvers: [DNSConfiguration.Resolver]

        /// Watches before it reads, so that no change falls in between.
        init(of path: String, _ changes: FileChanges?) {
            names = changes?.watch(path) ?? []
            resolvers = ResolverText.resolvers(in: Self.text(of: path))
        }

        /// The text of a regular file; reading a pipe could wait forever.
        private static func text(of path: String) -> String {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard descriptor >= 0 else { return "" }
            defer { Glibc.close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "" }
            var buffer = [UInt8](repeating: 0, count: maximumSize)
            let count = read(descriptor, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }
}
