// SPDX-License-Identifier: Apache-2.0

/// Takes over one signal for the process, and calls into the actor that made it. Dropping the watcher gives the signal
/// back.
package final class SignalWatcher: Sendable {
    private let loop: EventLoop
    private let handle: SignalHandle

    /// Watches from now on.
    ///
    /// - Throws: ``EventLoopError`` when the loop has ended or the signal cannot be caught.
    package init<Owner: LoopActor>(
        of signal: CInt, for owner: isolated Owner, _ received: @escaping @Sendable (isolated Owner) -> Void
    ) throws(EventLoopError) {
        loop = owner.eventLoop
        handle = try SignalHandle(on: loop.confined(), signal: signal, owner.entering(received))
    }

    deinit { loop.executeUnlessEnded { [handle] in handle.close() } }
}
