// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// Wakes the monitor when the system has slept: the shell around ``ClockStepTimer``. Belongs to the loop's thread.
final class ResumeWatch {
    private let timer: ClockStepTimer
    private let watcher: DescriptorWatcher

    /// Watches from now on. Nil if the system has no such timer; a sleep then only shows in the network's changes.
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

    /// Stops watching, so that the descriptor may be closed.
    func close() { watcher.close() }
}
