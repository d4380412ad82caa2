// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc

/// The state of a loop's thread: the `uv_loop_t` and its turns.
final class LoopState {
    /// The most batches of jobs that one turn runs before it looks at sockets and timers again.
    private static let batchesPerTurn = 64

    let uv: UnsafeMutablePointer<uv_loop_t>
    private unowned let loop: EventLoop
    private let inbox: Inbox
    // No code that changes one of these three calls other code meanwhile; code that runs when an actor ends may only
    // enqueue.
    @exclusivity(unchecked) private var batch: [Inbox.Entry] = []
    @exclusivity(unchecked) private var endOfTurn: [any TurnActor] = []
    /// The actors being called at the end of the turn; empty in between, so that its storage is reused.
    @exclusivity(unchecked) private var ending: [any TurnActor] = []
    private(set) var isClosing = false

    init(loop: EventLoop) throws(EventLoopError) {
        ThreadPool.closeAtExit()
        (self.loop, inbox) = (loop, loop.inbox)
        uv = .allocate(capacity: 1)
        let status = uv.initializeLoop()
        // Throwing here runs `deinit`, because everything is initialized.
        guard status == 0 else { throw EventLoopError(libuv: status, during: "starting an event loop") }
    }

    deinit { uv.deallocate() }

    /// Opens the loop's own handles.
    func open() throws(EventLoopError) {
        try PollHandle(on: self, descriptor: inbox.wakeDescriptor) { [inbox] _, _ in inbox.acknowledge() }
            .start(.readable)
        _ = try TurnHandle(on: self) { [unowned self] in finishTurn() }
    }

    /// Closes a loop that could only be opened in part.
    func abandon() {
        uv_walk(uv, { handle, _ in recover(LoopHandle.self, handle)?.close() }, nil)
        uv_run(uv, UV_RUN_DEFAULT)
        uv_loop_close(uv)
    }

    /// Runs the loop until its inbox is closed, then closes everything that is open on it.
    ///
    /// - Parameter ended: Called when no handle is left, before the inbox is marked as closed: from then on another
    ///   thread runs late entries.
    func run(ended: () -> Void) {
        uv_run(uv, UV_RUN_DEFAULT)
        ended()
        // The loop has no open handle left. What its last callbacks enqueued runs now; jobs that never stop enqueueing
        // continue on a thread for late entries.
        for _ in 0..<Self.batchesPerTurn {
            if inbox.take(into: &batch, mayFallAsleep: false) == .entries { runBatch() }
            runEndOfTurn()
        }
        if inbox.finish() == .needsLateThread { LoopThread.runLateEntries(of: loop) }
        let status = uv_loop_close(uv)
        precondition(status == 0, "uv_loop_close: \(status)")
    }

    /// Registers an actor that is called once when the current events have been handled, and kept alive until then.
    func atEndOfTurn(call actor: any TurnActor) { endOfTurn.append(actor) }

    /// Runs the work that the turn has brought, before the loop looks for events again.
    private func finishTurn() {
        for _ in 0..<Self.batchesPerTurn {
            switch inbox.take(into: &batch, mayFallAsleep: endOfTurn.isEmpty) {
            case .entries: runBatch()
            case .nothing: runEndOfTurn()
            case .sleep(let isClosing):
                if isClosing { closeHandles() }
                return
            }
        }
        runEndOfTurn()
        // Tasks that keep the inbox filled must delay neither sockets nor the loop's end.
        inbox.wakeSelf()
        if inbox.isClosing { closeHandles() }
    }

    // Usually there is one element, and taking it out is cheaper than iterating over the array and emptying it.

    private func runBatch() {
        if batch.count == 1 { return loop.run(batch.removeLast()) }
        for entry in batch { loop.run(entry) }
        batch.removeAll(keepingCapacity: batch.count < 4096)
    }

    private func runEndOfTurn() {
        if endOfTurn.count == 1 { return endOfTurn.removeLast().enterEndOfTurn() }
        swap(&endOfTurn, &ending)
        for actor in ending { actor.enterEndOfTurn() }
        ending.removeAll(keepingCapacity: ending.count < 4096)
    }

    private func closeHandles() {
        guard !isClosing else { return }
        isClosing = true
        uv_walk(uv, { handle, _ in recover(LoopHandle.self, handle)?.loopEnds() }, nil)
    }
}
