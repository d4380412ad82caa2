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
            try atEndOfTurnKeepingSelf { $0.finishTurn() }
        } catch {
            finishTurn()  // the loop has ended: nobody must wait for its next turn
        }
    }

    func finishTurn() {
        isTurnScheduled = false
        for generation in generations {
            actOnWhatIsDue(in: generation)
            harvest(generation)
        }
        for generation in generations where generation.breakdown != nil { rebuild(generation) }
        openGates()
        let now = Monotonic.now
        while let id = queue.next() {
            guard let transfer = transfers[id] else { continue }
            transfer.events?.start(now: now)
            perform(transfer.machine.turnCame(now: now), on: transfer)
            active.note(transfer)  // it has another deadline now
        }
        for transfer in active.takeAll() where transfer.machine.phase != .ended {
            guard !transfer.isRefusedMeanwhile else {
                end(transfer, transfer.machine.engineFinished(succeeded: true), code: CURLE_OK)
                continue
            }
            flushUpload(transfer)
            publish(transfer)
            arm(transfer)
            if let events = transfer.events?.take() { announcements.append(events) }
            if transfer.takeUnfinishedRefusal() { resumeUpload(transfer) }
        }
        cleanUpGenerations()
        setDeadlineTimer()
        let (due, told) = (resumptions, announcements)
        (resumptions, announcements) = ([], [])
        for announcement in told { announcement.tell() }
        for resumption in due { resumption.resume() }
        if isClosing, transfers.isEmpty { finishShutdown() }
    }

    /// Ends what libcurl is done with.
    private func harvest(_ generation: Generation) {
        guard let multi = generation.multi else { return }
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
            transfer.exchange.mailbox.leave(.success(head))
            resumptions.append(.task(waiter))
        }
        let isPaused = transfer.machine.phase == .bodyPaused
        let (reader, demand) = transfer.exchange.mailbox.flush(
            isPaused: isPaused, untilEmpty: transfer.isHeldByBudget)
        if let reader { resumptions.append(.task(reader)) }
        if demand { post { [id = transfer.id] in $0.demand(id) } }  // the reader was faster than the turn
    }

    private func openGates() {
        for generation in generations where generation.gatesMayOpen {
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
    }

    private func isResolved(_ id: UInt64) -> Bool {
        (transfers[id]?.handle?.offset(CURLINFO_NAMELOOKUP_TIME_T) ?? 0) > 0
    }
}
