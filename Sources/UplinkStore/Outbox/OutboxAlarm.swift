// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// Wakes a run of an outbox at one moment: a task, which is replaced when that moment changes.
struct OutboxAlarm: ~Copyable {
    private let clock: ElapsedClock
    private let wake: @Sendable () -> Void
    private var deadline: Duration?
    private var task: Task<Void, Never>?

    init(on clock: ElapsedClock, _ wake: @escaping @Sendable () -> Void) { (self.clock, self.wake) = (clock, wake) }

    deinit { task?.cancel() }

    /// Sets the moment; nil: never.
    mutating func set(to new: Duration?) {
        guard new != deadline else { return }
        task?.cancel()
        deadline = new
        task = new.map { new in
            Task(name: "outbox's alarm") { [clock, wake] in
                // A clock may wake early, and an alarm of the same moment would not be set again.
                repeat {
                    guard (try? await clock.sleep(until: new)) != nil else { return }
                } while clock.now() < new
                wake()
            }
        }
    }
}
#endif
