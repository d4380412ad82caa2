// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// What happens once per turn of the loop, after every event of it: one harvest, one batch of resumptions.
extension CurlEngine {
    /// Called after everything that may have finished a transfer or brought bytes.
    func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        do throws(EventLoopError) {
            // The closure keeps the engine, whose last owner may be the message that is being handled.
            try atEndOfTurn { [self] engine in
                engine.finishTurn()
                withExtendedLifetime(self) {}
            }
        } catch {
            finishTurn()  // the loop has ended: nobody must wait for its next turn
        }
    }

    private func finishTurn() {
        isTurnScheduled = false
        harvest()
        if breakdown != nil { rebuild() }
        openGates()
        let now = Monotonic.now
        while let id = queue.next() {
            guard let transfer = transfers[id] else { continue }
            perform(transfer.machine.turnCame(now: now), on: transfer)
        }
        for id in active.takeAll() {
            guard let transfer = transfers[id] else { continue }
            flushUpload(transfer)
            publish(transfer)
            arm(transfer)
        }
        setDeadlineTimer()
        let due = resumptions
        resumptions = []
        for resumption in due { resumption.resume() }
        if isClosing, transfers.isEmpty { finishShutdown() }
    }

    /// Ends what libcurl is done with.
    private func harvest() {
        guard let multi else { return }
        for (id, code) in multi.takeFinished() {
            guard let transfer = transfers[id] else { continue }
            let code = transfer.settled(code)
            let isWhole = code == CURLE_OK && transfer.refusal == nil && transfer.incompleteness == nil
            end(transfer, transfer.machine.engineFinished(succeeded: isWhole), code: code)
        }
    }

    /// Hands over what the callbacks have brought.
    func publish(_ transfer: CurlTransfer) {
        if let head = transfer.takeHead(), let waiter = transfer.headWaiter {
            transfer.headWaiter = nil
            transfer.exchange.didReceive(head: .success(head))
            resumptions.append(.head(waiter))
        }
        let isPaused = transfer.machine.phase == .bodyPaused
        let (resumption, demand) = transfer.exchange.mailbox.flush(isPaused: isPaused)
        if let resumption { resumptions.append(.body(resumption)) }
        if demand { post { [id = transfer.id] in $0.demand(id) } }  // the reader was faster than the turn
    }

    private func openGates() {
        guard hasOpenedSocket else { return }
        hasOpenedSocket = false
        for id in gate.leaders where isResolved(id) { open(gate.resolved(id)) }
    }

    private func isResolved(_ id: UInt64) -> Bool {
        (transfers[id]?.handle?.offset(CURLINFO_NAMELOOKUP_TIME_T) ?? 0) > 0
    }

    // MARK: Deadlines

    /// Puts a transfer's deadline into the heap. One that has moved away stays: it is looked at when it is due.
    private func arm(_ transfer: CurlTransfer) {
        guard let deadline = transfer.machine.deadline, deadline < transfer.armedDeadline ?? .max else { return }
        deadlines.remove(slot: transfer.deadlineSlot)
        deadlines.insert(deadline: deadline, slot: transfer.deadlineSlot)
        transfer.armedDeadline = deadline
    }

    private func setDeadlineTimer() {
        let due = deadlines.first?.deadline
        guard let timers, timers.deadline != due else { return }
        timers.deadline = due
        guard let due else { return timers.deadlines.stop() }
        timers.deadlines.start(after: .nanoseconds(max(0, due - Monotonic.now)))
    }

    func deadlinesPassed() {
        timers?.deadline = nil
        let now = Monotonic.now
        while let entry = deadlines.popDue(at: now) {
            guard let transfer = transfers[slotOwners[Int(entry.slot)]] else { continue }
            transfer.armedDeadline = nil
            perform(transfer.machine.timePassed(now: now), on: transfer)
            active.note(transfer.id)
        }
        scheduleTurn()
    }

    // MARK: The end

    func beginShutdown(_ mode: CurlTransport.ShutdownMode) {
        isClosing = true
        switch mode {
        case .draining: break
        case .cancelling:
            for transfer in Array(transfers.values) { perform(transfer.machine.cancelled(), on: transfer) }
        }
        scheduleTurn()
    }

    func shutdown(_ mode: CurlTransport.ShutdownMode, _ waiter: CheckedContinuation<Void, Never>) {
        closeWaiters.append(waiter)
        beginShutdown(mode)
    }

    /// The loop ends though the transport has not been shut down: nobody must wait for what cannot come any more.
    func loopEnded() {
        isClosing = true
        for transfer in Array(transfers.values) {
            transfer.refuse(CurlFailure.loopEnded)
            end(transfer, transfer.machine.engineFinished(succeeded: false), code: CURLE_OK)
        }
        scheduleTurn()
    }

    private func finishShutdown() {
        cleanUpMulti()
        timers = nil
        let waiters = closeWaiters
        closeWaiters = []
        // Behind the timers' own closing, which they have just sent to the loop.
        eventLoop.execute { for waiter in waiters { waiter.resume() } }
    }

    private func rebuild() {
        let reason = breakdown ?? ""
        // Over and over, because the end of one lets others start.
        while let transfer = transfers.values.first(where: { $0.handle != nil }) {
            transfer.refuse(CurlFailure.engine(reason))
            end(transfer, transfer.machine.engineFinished(succeeded: false), code: CURLE_OK)
        }
        cleanUpMulti()
        breakdown = nil
    }

    private func cleanUpMulti() {
        guard let multi else { return }
        isCleaningUp = true
        multi.cleanUp()
        isCleaningUp = false
        self.multi = nil
        for socket in sockets.values { socket.close() }
        sockets = [:]
        timers?.curl.stop()
    }
}
