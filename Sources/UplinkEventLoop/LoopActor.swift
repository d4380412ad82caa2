// SPDX-License-Identifier: Apache-2.0

/// An actor that lives on an event loop's thread, where libuv's and libcurl's callbacks may enter it.
package protocol LoopActor: Actor {
    /// The loop. It must outlive the actor's use of timers and watchers, or they throw ``EventLoopError``.
    nonisolated var eventLoop: EventLoop { get }
}

extension LoopActor {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.asUnownedSerialExecutor() }

    /// A closure for a C callback on the loop's thread: it enters the actor, if there still is one.
    nonisolated func entering<Argument>(
        _ method: @escaping @Sendable (isolated Self, Argument) -> Void
    ) -> (Argument) -> Void {
        { [weak self] argument in
            nonisolated(unsafe) let argument = argument  // stays on the loop's thread
            self?.assumeIsolated { method($0, argument) }
        }
    }

    /// The same for a callback that brings nothing.
    nonisolated func entering(_ method: @escaping @Sendable (isolated Self) -> Void) -> () -> Void {
        { [weak self] in self?.assumeIsolated { method($0) } }
    }

    /// Runs `work` once, when the events at hand have been handled: after the callbacks of this turn, in no C frame.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    package func atEndOfTurn(_ work: @escaping @Sendable (isolated Self) -> Void) throws(EventLoopError) {
        try eventLoop.confined().atEndOfTurn(entering(work))
    }
}
