// SPDX-License-Identifier: Apache-2.0

/// Watches a descriptor for its owner, who opened it and who closes it after the watcher. Dropping it closes it.
///
/// Its methods belong to the loop's thread.
package final class DescriptorWatcher: Sendable {
    private let loop: EventLoop
    private let handle: PollHandle

    /// Makes a watcher that does not watch yet. The descriptor becomes non-blocking.
    ///
    /// - Parameter ended: Called if the loop ends while the watcher is there; it will not hear any more.
    /// - Throws: ``EventLoopError`` when the loop has ended or the descriptor cannot be watched.
    package init<Owner: LoopActor>(
        of descriptor: CInt, for owner: isolated Owner,
        ended: @escaping @Sendable (isolated Owner) -> Void = { _ in },
        _ ready: @escaping @Sendable (isolated Owner, Readiness) -> Void
    ) throws(EventLoopError) {
        loop = owner.eventLoop
        handle = try PollHandle(on: loop.confined(), descriptor: descriptor, owner.entering(ready))
        handle.whenLoopEnds = owner.entering(ended)
    }

    deinit { loop.executeUnlessEnded { [handle] in handle.close() } }

    /// Watches for `interest` alone, in place of what was watched before.
    package func start(_ interest: Readiness) { handle.start(interest) }

    /// Stops watching at once; ``start(_:)`` goes on.
    package func stop() { handle.stop() }

    /// Stops watching for good, at once, so that the descriptor may be closed.
    package func close() { handle.close() }
}
