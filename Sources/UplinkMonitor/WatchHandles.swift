// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop

/// What a ``PathWatcher`` has open while it is at work. Belongs to the loop's thread; after the loop's end nothing is
/// watched any more, and any thread may release it.
final class WatchHandles: @unchecked Sendable {  // as above
    var network: KernelNetwork?
    /// Watches the socket of `network`.
    var watcher: DescriptorWatcher?
    var poller: NetworkPoller?
    var validation: ValidationRunner?
    var resolverFile: ResolverFile?
    var resumeWatch: ResumeWatch?
    var intervalTimer: LoopTimer?
    var expiryTimer: LoopTimer?

    /// Closes everything; each watcher first, because the descriptor's number may be another's at once.
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
