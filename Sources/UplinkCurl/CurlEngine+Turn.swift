// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// What happens once per turn of the loop, after all its events: one harvest, one batch of resumptions.
extension CurlEngine {
    /// Schedules the end of the turn. Called after everything that may have finished a transfer or brought bytes.
    func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        do throws(EventLoopError) {
            // The engine's last owner may be the message that is being handled.
            try callAtEndOfTurn()
        } catch {
            turnEnds()  // the loop has ended: nothing may wait for its next turn
        }
    }

    func turnEnds() {
        // Before others begin: they must not get a connection that has had its last request, but do get a place that is
        // free now.
        for generation in generations { harvest(generation) }
        startNext()
        isTurnScheduled = false  // until here, what another turn would be for still happens in this one
        for generation in generations {
            actOnWhatIsDue(in: generation)
            harvest(generation)
            if generation.breakdown != nil { rebuild(generation) }
            if generation.gatesMayOpen { openGates(of: generation) }
        }
        active.takeEach(settle)
        cleanUpGenerations()
        setDeadlineTimer()
        loopLooksAtSockets()
        tellAndResume()
        if isClosing, transfers.isEmpty { finishShutdown() }
    }

    /// Does what follows when something has happened to a transfer.
    private func settle(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        guard !transfer.isOverByRefusal else { return finish(transfer, succeeded: true, code: CURLE_OK) }
        flushUpload(transfer)
        publish(transfer)
        arm(transfer)
        if let events = transfer.events?.take() { announcements.append(events) }
        if transfer.takeUnfinishedRefusal() { resumeUpload(transfer) }
    }

    /// Lets the transfers go on whose turn has come. Done before libcurl is called, which has something to do for them
    /// immediately.
    private func startNext() {
        while let id = queue.next() {
            guard let transfer = transfers[id] else { continue }
            let now = Monotonic.now
            lookAtIdleConnections(now: now)
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

    /// Ends the transfers that libcurl is done with.
    private func harvest(_ generation: Generation) {
        while let (transfer, code) = generation.multi?.nextFinished() {
            let code = transfer.corrected(code)
            if transfer.goesOutAgain(after: code) {
                sendAgain(transfer, in: generation)
                continue
            }
            let isWhole = code == CURLE_OK && transfer.stopReason == nil && transfer.incompleteness == nil
            finish(transfer, succeeded: isWhole, code: code)
        }
    }

    /// Makes libcurl start again, on a connection that has not been used before.
    private func sendAgain(_ transfer: CurlTransfer, in generation: Generation) {
        guard let multi = generation.multi?.curl, let handle = transfer.handle else { return }
        handle.isParticular = true
        handle.setFreshConnection(true)
        handle.guardFirstField()
        curl_multi_remove_handle(multi, handle.curl)
        check(curl_multi_add_handle(multi, handle.curl), of: generation)
        generation.running += 1
        startNudging()
        scheduleTurn()
    }

    /// Hands over what the callbacks brought.
    private func publish(_ transfer: CurlTransfer) {
        publishHead(transfer)
        guard transfer.hasNewsForReader else { return }
        transfer.hasNewsForReader = false
        let (reader, isDemanded, isHeldBack) = transfer.mailbox.flush(
            isPaused: transfer.isPaused, untilEmpty: transfer.isHeldByBudget, now: Monotonic.now)
        if isHeldBack { holdBack(transfer.id) }
        if let reader { resumptions.append(.task(reader)) }
        if isDemanded { post { [id = transfer.id] in $0.demand(id) } }  // the reader asked before the turn's end
    }

    func publishHead(_ transfer: CurlTransfer) {
        guard let head = transfer.takeHead(), let waiter = transfer.headWaiter else { return }
        transfer.headWaiter = nil
        transfer.mailbox.leave(.success(head))
        resumptions.append(.task(waiter))
    }

    /// Checks a moment later whether to wake a transfer's reader.
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
        startNudging()  // a reused connection may have died, and another one be on its way
        for id in gate.leaders {
            guard let transfer = transfers[id], transfer.generation === generation else { continue }
            if transfer.usesKnownConnection {
                open(gate.left(id))  // it will not resolve anything
            } else if isResolved(id) {
                // What an old generation has resolved is not known in a new one.
                open(generation.isRetired ? gate.left(id) : gate.resolved(id))
            }
        }
    }

    private func isResolved(_ id: UInt64) -> Bool {
        guard let transfer = transfers[id] else { return false }
        // The proxy is looked up first; the name behind it only when the proxy is reached.
        if let proxy = transfer.proxy, !proxy.resolvesNames { return transfer.machine.phase != .connecting }
        return (transfer.handle?.offset(CURLINFO_NAMELOOKUP_TIME_T) ?? 0) > 0
    }
}
