// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc

/// What belongs to a loop's thread: the `uv_loop_t`, its turns, and the handles open on it.
final class LoopState {
    /// Batches of jobs that one turn may run before it looks at sockets and timers again.
    private static let batchesPerTurn = 64

    let uv: UnsafeMutablePointer<uv_loop_t>
    private unowned let loop: EventLoop
    // Whatever changes one of these three calls nobody while it does; what ends with a closure may only enqueue.
    @exclusivity(unchecked) private var batch: [Inbox.Entry] = []
    @exclusivity(unchecked) private var endOfTurn: [TurnEnd] = []
    /// What runs at the turn's end now; empty in between, so that its storage is used again.
    @exclusivity(unchecked) private var ending: [TurnEnd] = []
    private var openHandles: [ObjectIdentifier: LoopHandle] = [:]
    private(set) var isClosing = false

    /// A closure, which an array would wrap in another one.
    private struct TurnEnd {
        let run: () -> Void
    }

    init(loop: EventLoop) throws(EventLoopError) {
        self.loop = loop
        uv = .allocate(capacity: 1)
        let status = uv_loop_init(uv)
        // What throws here is deinitialized, because all of it is initialized.
        guard status == 0 else { throw EventLoopError(libuv: status, during: "starting an event loop") }
    }

    deinit { uv.deallocate() }

    /// Opens the loop's own handles.
    func open() throws(EventLoopError) {
        try PollHandle(on: self, descriptor: loop.inbox.wakeDescriptor) { [loop] _, _ in loop.inbox.acknowledge() }
            .start(.readable)
        _ = try TurnHandle(on: self) { [unowned self] in finishTurn() }
    }

    /// Closes a loop that could not be opened whole.
    func abandon() {
        for handle in openHandles.values { handle.close() }
        uv_run(uv, UV_RUN_DEFAULT)
        uv_loop_close(uv)
    }

    /// Runs the loop until its inbox is closed, then closes all that is open on it.
    ///
    /// - Parameter ended: Called when no handle is left; before the inbox is marked as closed, because from then on
    ///   another thread runs what arrives late.
    func run(ended: () -> Void) {
        uv_run(uv, UV_RUN_DEFAULT)
        ended()
        // The loop had no open handle left; what its last callbacks enqueued runs now, and what never ends runs on.
        for _ in 0..<Self.batchesPerTurn {
            if loop.inbox.take(into: &batch) { runBatch() }
            runEndOfTurn()
        }
        if loop.inbox.finish() == .needsAfterlife { LoopThread.runAfterlife(of: loop) }
        let status = uv_loop_close(uv)
        precondition(status == 0, "uv_loop_close: \(status)")
    }

    /// Registers what is to run once, when the events at hand have been handled.
    func atEndOfTurn(_ work: @escaping () -> Void) { endOfTurn.append(TurnEnd(run: work)) }

    func didOpen(_ handle: LoopHandle) { openHandles[ObjectIdentifier(handle)] = handle }

    func didClose(_ handle: LoopHandle) { openHandles[ObjectIdentifier(handle)] = nil }

    /// Runs what the turn has brought, before the loop looks for events again.
    private func finishTurn() {
        var batches = 0
        while batches < Self.batchesPerTurn {
            if loop.inbox.take(into: &batch) {
                runBatch()
                batches += 1
            } else if !endOfTurn.isEmpty {
                runEndOfTurn()
                batches += 1
            } else if loop.inbox.fallAsleep() {
                closeHandlesIfClosing()
                return
            }
        }
        runEndOfTurn()
        // Tasks that never let the inbox run empty hold up neither sockets nor the end.
        loop.inbox.wakeSelf()
        closeHandlesIfClosing()
    }

    private func runBatch() {
        for entry in batch { loop.run(entry) }
        batch.removeAll(keepingCapacity: batch.count < 4096)
    }

    private func runEndOfTurn() {
        swap(&endOfTurn, &ending)
        for item in ending { item.run() }
        ending.removeAll(keepingCapacity: ending.count < 4096)
    }

    private func closeHandlesIfClosing() {
        guard loop.inbox.isClosing, !isClosing else { return }
        isClosing = true
        for handle in openHandles.values {
            handle.whenLoopEnds()
            handle.close()
        }
    }
}
