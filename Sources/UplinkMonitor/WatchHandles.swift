// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// The handles that a ``PathWatcher`` has open while it is at work. They belong to the loop's thread; once the loop has
/// ended, nothing is watched any more, and any thread may release them.
final class WatchHandles: @unchecked Sendable {  // used on the loop's thread only, and released after its end
    var network: KernelNetwork?
    /// Watches the socket of `network`.
    var watcher: DescriptorWatcher?
    var poller: NetworkPoller?
    var validation: ValidationRunner?
    var resolverFile: ResolverFile?
    var resumeWatch: ResumeWatch?
    var intervalTimer: LoopTimer?
    var expiryTimer: LoopTimer?

    /// Closes everything; each watcher first, because the descriptor's number may be reused immediately.
    func close() {
        watcher?.close()
        watcher = nil
        network = nil
        resolverFile?.assumeIsolated { $0.close() }
        resolverFile = nil
        resumeWatch?.close()
        resumeWatch = nil
        intervalTimer?.stop()
        intervalTimer = nil
        expiryTimer?.stop()
        expiryTimer = nil
        validation?.close()
        validation = nil
        poller?.timer.stop()
        poller = nil
    }
}
