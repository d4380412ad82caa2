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
            self?.enter { method($0, argument) }
        }
    }

    /// The same for a callback that brings nothing.
    nonisolated func entering(_ method: @escaping @Sendable (isolated Self) -> Void) -> () -> Void {
        { [weak self] in self?.enter(with: method) }
    }

    /// Runs `work` once, when the events at hand have been handled: after the callbacks of this turn, in no C frame.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    package func atEndOfTurn(_ work: @escaping @Sendable (isolated Self) -> Void) throws(EventLoopError) {
        try eventLoop.confined().atEndOfTurn(entering(work))
    }

    /// The same, where the actor is to be kept until then.
    package func atEndOfTurnKeepingSelf(
        _ work: @escaping @Sendable (isolated Self) -> Void
    ) throws(EventLoopError) {
        try eventLoop.confined().atEndOfTurn { [self] in enter(with: work) }
    }

    /// Runs `body` in the actor, at once, for a caller on the loop's thread; stops the program on any other.
    ///
    /// As `assumeIsolated` does; but that asks the concurrency runtime where it is, which costs more than most of what is
    /// done for one event.
    package nonisolated func enter<Result>(_ body: (isolated Self) throws -> Result) rethrows -> Result {
        eventLoop.checkIsolated()
        typealias Entered = (Self) throws -> Result
        return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: Entered.self)(self) }
    }

    /// The same for a closure that may escape, which need not be wrapped for it.
    package nonisolated func enter(with body: @escaping @Sendable (isolated Self) -> Void) {
        eventLoop.checkIsolated()
        unsafeBitCast(Isolated(body: body), to: Entered<Self>.self).body(self)
    }
}

/// What an actor does, and the same as what need not be in the actor. Two structs, since closures by themselves would be
/// wrapped where they are passed to a generic function.
private struct Isolated<Owner: LoopActor> {
    let body: @Sendable (isolated Owner) -> Void
}

private struct Entered<Owner: LoopActor> {
    let body: @Sendable (Owner) -> Void
}
