// SPDX-License-Identifier: Apache-2.0

/// Watches a descriptor for its owner, which opened it and closes it after the watcher. Dropping the watcher closes it.
///
/// Its methods belong to the loop's thread.
package final class DescriptorWatcher: Sendable {
    private let loop: EventLoop
    private let handle: PollHandle

    /// Makes a watcher that does not watch yet. The descriptor becomes non-blocking.
    ///
    /// - Parameter ended: Called if the loop ends while the watcher exists; it will report nothing more.
    /// - Throws: ``EventLoopError`` when the loop has ended or the descriptor cannot be watched.
    package init<Owner: LoopActor>(
        of descriptor: CInt, for owner: isolated Owner,
        ended: @escaping @Sendable (isolated Owner) -> Void = { _ in },
        _ ready: @escaping @Sendable (isolated Owner, Readiness) -> Void
    ) throws(EventLoopError) {
        let ready = owner.entering(ready)
        loop = owner.eventLoop
        handle = try PollHandle(on: loop.confined(), descriptor: descriptor) { ready($1) }
        handle.whenLoopEnds = owner.entering(ended)
    }

    /// The receiver of watchers' reports: made once for all watchers of an owner, so that thousands of them hold no
    /// closures of their own.
    package struct Listener {
        fileprivate let ready: (CInt, Readiness) -> Void

        /// - Parameter ready: Called with the descriptor.
        package init<Owner: LoopActor>(
            for owner: Owner, _ ready: @escaping @Sendable (isolated Owner, (CInt, Readiness)) -> Void
        ) {
            let entered = owner.entering(ready)
            self.ready = { entered(($0, $1)) }
        }
    }

    /// Makes a watcher that does not watch yet and is not told of the loop's end. The descriptor becomes non-blocking.
    ///
    /// - Throws: ``EventLoopError`` when libuv cannot watch the descriptor, or the loop has ended.
    package init(of descriptor: CInt, on loop: EventLoop, _ listener: Listener) throws(EventLoopError) {
        self.loop = loop
        handle = try PollHandle(on: loop.confined(), descriptor: descriptor, listener.ready)
    }

    deinit { loop.executeUnlessEnded { [handle] in handle.close() } }

    /// While an event is reported: when the loop took it from the kernel, in nanoseconds of `CLOCK_MONOTONIC`, rounded
    /// down to milliseconds.
    package var timeOfEvents: Int64 { handle.loopTime }

    /// Watches for `interest` only, replacing what was watched before.
    package func start(_ interest: Readiness) { handle.start(interest) }

    /// Stops watching immediately; ``start(_:)`` resumes it.
    package func stop() { handle.stop() }

    /// Stops watching for good and immediately, so that the descriptor may be closed.
    package func close() { handle.close() }
}
