// SPDX-License-Identifier: Apache-2.0
import CUplink
import UplinkCore
import UplinkMonitor

/// A call that reports the network's path, and every change of it, to a program. While its callback runs, only the
/// newest path is kept.
final class WatchCall: Call {
    private let task = CallTask()
    /// Raised when a callback has run.
    private let told = Signal()
    private let callback: uplink_watch_cb
    private let user: UserPointer

    init(_ callback: uplink_watch_cb, _ user: UserPointer) { (self.callback, self.user) = (callback, user) }

    func cancel() {
        task.cancel()
        told.end()
    }

    func start(_ id: CallMachine.ID, in context: Context) {
        task.start(on: context) { await self.watch(id, in: context) }
    }

    private func watch(_ id: CallMachine.ID, in context: Context) async {
        let status: CInt
        do throws(NetworkMonitorError) {
            for try await path in context.monitor.paths {
                guard tell(path, of: id, in: context) else { break }
                await told.wait()
            }
            status = context.cancellation
        } catch {
            status = Status.monitor
        }
        let last = CallMachine.Delivery(kind: .end) { [callback, user] in
            callback(context.pointer, id, status, nil, user.pointer)
        }
        context.end(id, "watch", status, Status.text(status), last)
    }

    private func tell(_ path: NetworkPath, of id: CallMachine.ID, in context: Context) -> Bool {
        let box = PathBox(path)
        let event = CallMachine.Delivery(kind: .event(id)) { [callback, user, told] in
            box.withPointer { callback(context.pointer, id, Status.ok, $0, user.pointer) }
            told.raise()
        } drop: { [told] in
            told.raise()
        }
        return context.queue.update { $0.post(event) }
    }
}
