// SPDX-License-Identifier: Apache-2.0
import CUplink
import UplinkCore
import UplinkHTTP

/// Reports to a program how much of a request's body has gone out. While its callback runs, only the newest numbers are
/// kept.
final class SentReport: Sendable {
    private struct State {
        /// The numbers that the program has not been told yet.
        var newest: (sent: Int64, length: Int64?)?
        /// Raised when it has been told them.
        var told: Signal?
    }

    private let state = Locked(State())
    private let callback: uplink_sent_cb
    private let user: UserPointer
    private let id: CallMachine.ID
    private let context: Context

    init(_ callback: uplink_sent_cb, _ user: UserPointer, of id: CallMachine.ID, in context: Context) {
        (self.callback, self.user, self.id, self.context) = (callback, user, id, context)
    }

    /// The observer for the client's events.
    var observer: @Sendable (HTTPEvent) -> Void {
        { [self] event in
            if case .sent(let sent, let length) = event { note(sent, of: length) }
        }
    }

    /// Waits until the numbers have been reported, because the end of a call drops those that have not.
    func settle() async {
        let told: Signal? = state.withLock { state in
            guard state.newest != nil else { return nil }
            let signal = Signal()
            state.told = signal
            return signal
        }
        await told?.wait()
    }

    private func note(_ sent: Int64, of length: Int64?) {
        let isQueued = state.withLock { state in
            defer { state.newest = (sent, length) }
            return state.newest != nil
        }
        if isQueued { return }
        let event = CallMachine.Delivery(kind: .event(id)) { [self] in
            if let (sent, length) = take() {
                callback(context.pointer, id, sent, length ?? -1, user.pointer)
            }
        } drop: { [self] in
            _ = take()
        }
        if !context.queue.update({ $0.post(event) }) { _ = take() }
    }

    private func take() -> (sent: Int64, length: Int64?)? {
        let (newest, told) = state.withLock { state in
            defer { state = State() }
            return (state.newest, state.told)
        }
        told?.raise()
        return newest
    }
}
