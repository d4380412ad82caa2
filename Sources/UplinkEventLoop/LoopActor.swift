// SPDX-License-Identifier: Apache-2.0

/// An actor that lives on an event loop's thread, where libuv's and libcurl's callbacks may enter it.
@usableFromInline
package protocol LoopActor: Actor {
    /// The loop. It must outlive the actor's use of timers and watchers; otherwise they throw ``EventLoopError``.
    nonisolated var eventLoop: EventLoop { get }
}

extension LoopActor {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.asUnownedSerialExecutor() }

    /// Makes a closure for a C callback on the loop's thread, which enters the actor if it still exists.
    nonisolated func entering<Argument>(
        _ method: @escaping @Sendable (isolated Self, Argument) -> Void
    ) -> (Argument) -> Void {
        { [weak self] argument in self?.enter(with: method, argument) }
    }

    /// The same for a callback without an argument.
    nonisolated func entering(_ method: @escaping @Sendable (isolated Self) -> Void) -> () -> Void {
        { [weak self] in self?.enter(with: method) }
    }

    /// Runs `body` in the actor immediately, for a caller on the loop's thread; stops the program on any other.
    ///
    /// Like `assumeIsolated`, which however asks the concurrency runtime where it is, at a cost higher than most of
    /// what is done for one event.
    package nonisolated func enter<Result>(_ body: (isolated Self) throws -> Result) rethrows -> Result {
        eventLoop.checkIsolated()
        typealias Entered = (Self) throws -> Result
        return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: Entered.self)(self) }
    }

    // Inlinable, so that they are compiled for each actor: otherwise each call would allocate closures.

    /// The same for a closure that may escape, which need not be wrapped.
    @inlinable
    package nonisolated func enter(with body: @escaping @Sendable (isolated Self) -> Void) {
        eventLoop.checkIsolated()
        unsafeBitCast(Isolated(body: body), to: Entered<Self>.self).body(self)
    }

    /// The same for a closure with an argument, which stays on the loop's thread.
    @inlinable
    package nonisolated func enter<Argument>(
        with body: @escaping @Sendable (isolated Self, Argument) -> Void, _ argument: Argument
    ) {
        eventLoop.checkIsolated()
        unsafeBitCast(IsolatedTaking(body: body), to: EnteredTaking<Self, Argument>.self).body(self, argument)
    }
}

/// An actor's closure, with and without its isolation in the type. Structs, since bare closures would be wrapped when
/// passed to a generic function.
@usableFromInline
struct Isolated<Owner: LoopActor> {
    @usableFromInline let body: @Sendable (isolated Owner) -> Void

    @inlinable
    init(body: @escaping @Sendable (isolated Owner) -> Void) { self.body = body }
}

@usableFromInline
struct Entered<Owner: LoopActor> {
    @usableFromInline let body: @Sendable (Owner) -> Void
}

@usableFromInline
struct IsolatedTaking<Owner: LoopActor, Argument> {
    @usableFromInline let body: @Sendable (isolated Owner, Argument) -> Void

    @inlinable
    init(body: @escaping @Sendable (isolated Owner, Argument) -> Void) { self.body = body }
}

@usableFromInline
struct EnteredTaking<Owner: LoopActor, Argument> {
    @usableFromInline let body: @Sendable (Owner, Argument) -> Void
}
