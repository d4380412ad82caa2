// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// The life of the engine's generations and timers.
extension CurlEngine {
    /// Creates what is missing to hand a transfer to libcurl, and returns the generation it belongs in.
    @discardableResult func prepare() throws -> Generation {
        if timers == nil { timers = try Timers(for: self) }
        listenForChanges()
        if files.haveChanged(now: { Monotonic.now }) {
            for generation in generations { generation.isRetired = true }
            scheduleTurn()
        }
        if let current = generations.last, !current.isRetired, current.breakdown == nil {
            guard Monotonic.now - current.start > configuration.maximumSessionAge.nanosecondsRoundedUp else {
                return current
            }
            current.isRetired = true
            scheduleTurn()
        }
        lastGeneration += 1
        let generation = try Generation(lastGeneration, for: self)
        generations.append(generation)
        return generation
    }

    /// Ends a generation that libcurl calls broken, with its transfers.
    func rebuild(_ generation: Generation) {
        guard let breakdown = generation.breakdown else { return }
        generation.isRetired = true  // what starts from here on starts in another one
        for transfer in Array(transfers.values) where transfer.generation === generation {
            transfer.stops(because: breakdown)
            finish(transfer, code: CURLE_OK)
        }
    }

    /// Closes the generations that are no longer in use, or all.
    func cleanUpGenerations(all: Bool = false) {
        guard all || generations.contains(where: \.isRetired) else { return }
        for generation in generations where generation.transfers == 0 && (generation.isRetired || all) {
            generation.cleanUp()  // calls its callbacks, which need the generation
        }
        generations.removeAll { $0.multi == nil }
    }

    // MARK: For tests

    var census: (transfers: Int, sockets: Int) {
        (transfers.count, generations.reduce(0) { $0 + $1.sockets.all.count(where: \.isWanted) })
    }

    var generationCount: Int { generations.count }

    func simulateBreakdown(_ reason: String) {
        generations.last?.breakdown = CurlFailure.engine(reason)
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

    /// Called when the loop ends although the transport has not been shut down: nothing may wait for what cannot come
    /// any more.
    func loopEnded() {
        isClosing = true
        isTurnScheduled = true  // no turn in the middle of this: the end of one lets others start
        for transfer in Array(transfers.values) {
            transfer.stops(because: transfer.loopEnded)
            finish(transfer, code: CURLE_OK)
        }
        turnEnds()
    }

    func finishShutdown() {
        cleanUpGenerations(all: true)
        listening?.cancel()
        listening = nil
        timers = nil
        let waiters = closeWaiters
        closeWaiters = []
        // After the timers' own closing, which they have just sent to the loop.
        eventLoop.execute { for waiter in waiters { waiter.resume() } }
    }
}
