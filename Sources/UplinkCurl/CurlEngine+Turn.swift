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
            // Its last owner may be the message that is being handled.
            try callAtEndOfTurn()
        } catch {
            turnEnds()  // the loop has ended: nobody must wait for its next turn
        }
    }

    func turnEnds() {
        // Before others begin: a connection that has had its last request is not for them, but a place in the queue is.
        for generation in generations { harvest(generation) }
        startNext()
        isTurnScheduled = false  // up to here, what another turn would be for is still to come in this one
        for generation in generations {
            actOnWhatIsDue(in: generation)
            harvest(generation)
            if generation.breakdown != nil { rebuild(generation) }
            if generation.gatesMayOpen { openGates(of: generation) }
        }
        active.takeEach(settle)
        cleanUpGenerations()
        setDeadlineTimer()
        tellAndResume()
        if isClosing, transfers.isEmpty { finishShutdown() }
    }

    /// Does what follows from that something has happened to a transfer.
    private func settle(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        guard !transfer.isRefusedMeanwhile else {
            return end(transfer, transfer.machine.engineFinished(succeeded: true), code: CURLE_OK)
        }
        flushUpload(transfer)
        publish(transfer)
        arm(transfer)
        if let events = transfer.events?.take() { announcements.append(events) }
        if transfer.takeUnfinishedRefusal() { resumeUpload(transfer) }
    }

    /// Lets those go on whose turn has come. Before libcurl is asked, which has something to do for them at once.
    private func startNext() {
        while let id = queue.next() {
            guard let transfer = transfers[id] else { continue }
            let now = Monotonic.now
            transfer.events?.start(now: now)
            perform(transfer.machine.turnCame(now: now), on: transfer)
            active.note(transfer)  // it has another deadline now
        }
    }

    private func tellAndResume() {
        guard !resumptions.isEmpty || !announcements.isEmpty else { return }
        let (due, told) = (resumptions.take(), announcements.take())
        for announcement in told { announcement.tell() }
        for resumption in due { resumption.resume() }
        resumptions.giveBack(due)
        announcements.giveBack(told)
    }

    /// Ends what libcurl is done with.
    private func harvest(_ generation: Generation) {
        while let (transfer, code) = generation.multi?.nextFinished() {
            let code = transfer.settled(code)
            if transfer.goesOutAgain(after: code) {
                sendAgain(transfer, in: generation)
                continue
            }
            let isWhole = code == CURLE_OK && transfer.refusal == nil && transfer.incompleteness == nil
            end(transfer, transfer.machine.engineFinished(succeeded: isWhole), code: code)
        }
    }

    /// Has libcurl begin anew, on a connection that has not been used before.
    private func sendAgain(_ transfer: CurlTransfer, in generation: Generation) {
        guard let multi = generation.multi?.curl, let handle = transfer.handle else { return }
        handle.isParticular = true
        handle.setFreshConnection(true)
        curl_multi_remove_handle(multi, handle.curl)
        check(curl_multi_add_handle(multi, handle.curl), of: generation)
        generation.running += 1
        startNudging()
        scheduleTurn()
    }

    /// Hands over what the callbacks have brought.
    private func publish(_ transfer: CurlTransfer) {
        publishHead(transfer)
        guard transfer.hasNewsForReader else { return }
        transfer.hasNewsForReader = false
        let (reader, demand, isHeldBack) = transfer.mailbox.flush(
            isPaused: transfer.isPaused, untilEmpty: transfer.isHeldByBudget, now: Monotonic.now)
        if isHeldBack { holdBack(transfer.id) }
        if let reader { resumptions.append(.task(reader)) }
        if demand { post { [id = transfer.id] in $0.demand(id) } }  // the reader was faster than the turn
    }

    func publishHead(_ transfer: CurlTransfer) {
        guard let head = transfer.takeHead(), let waiter = transfer.headWaiter else { return }
        transfer.headWaiter = nil
        transfer.mailbox.leave(.success(head))
        resumptions.append(.task(waiter))
    }

    /// Looks in a moment whether a transfer's reader is to be woken.
    private func holdBack(_ id: UInt64) {
        if heldBack.isEmpty { timers?.moment.start(after: Mailbox.moment) }
        heldBack.insert(id)
    }

    func momentPassed() {
        for id in heldBack {
            guard let transfer = transfers[id] else { continue }
            transfer.hasNewsForReader = true
            active.note(transfer)
        }
        heldBack.removeAll(keepingCapacity: true)
        scheduleTurn()
    }

    private func openGates(of generation: Generation) {
        generation.gatesMayOpen = false
        startNudging()  // a connection that was used again may have died, and another be under way
        for id in gate.leaders {
            guard let transfer = transfers[id], transfer.generation === generation else { continue }
            if transfer.usesKnownConnection {
                open(gate.left(id))  // it will find nothing out
            } else if isResolved(id) {
                // In a new generation nobody knows what an old one has found out.
                open(generation.isRetired ? gate.left(id) : gate.resolved(id))
            }
        }
    }

    private func isResolved(_ id: UInt64) -> Bool {
        guard let transfer = transfers[id] else { return false }
        // What is looked up first is the proxy; the name behind it, when the proxy is reached.
        if let proxy = transfer.proxy, !proxy.resolvesNames { return transfer.machine.phase != .connecting }
        return (transfer.handle?.offset(CURLINFO_NAMELOOKUP_TIME_T) ?? 0) > 0
    }
}
