// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// Wakes the monitor when the system has slept: the shell around ``ClockStepTimer``. Belongs to the loop's thread.
final class ResumeWatch {
    private let timer: ClockStepTimer
    private let watcher: DescriptorWatcher

    /// Watches from now on. Nil where the system has no such timer; a sleep then shows by the network's changes alone.
    init?(
        for owner: isolated PathWatcher, _ stepped: @escaping @Sendable (isolated PathWatcher) -> Void
    ) throws(EventLoopError) {
        guard let timer = ClockStepTimer() else { return nil }
        self.timer = timer
        watcher = try DescriptorWatcher(of: timer.descriptor, for: owner) { owner, _ in stepped(owner) }
        watcher.start(.readable)
    }

    /// Whether the clock was stepped since the last call.
    func wasStepped() -> Bool { timer.wasStepped() }

    /// Stops watching, and lets the descriptor be closed.
    func close() { watcher.close() }
}
