// SPDX-License-Identifier: Apache-2.0

/// An actor that does some of its work once per turn of the loop.
@usableFromInline
package protocol TurnActor: LoopActor {
    /// The current events have been handled. Called after the callbacks of this turn, and not in a C frame.
    func turnEnds()

    /// Calls ``turnEnds()``, for the loop.
    nonisolated func enterEndOfTurn()
}

extension TurnActor {
    /// Requests one call of ``turnEnds()``, and keeps the actor alive until then.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended.
    package func callAtEndOfTurn() throws(EventLoopError) { try eventLoop.confined().atEndOfTurn(call: self) }

    @inlinable
    package nonisolated func enterEndOfTurn() { enter(with: { $0.turnEnds() }) }
}
