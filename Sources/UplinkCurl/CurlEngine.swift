// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// The one writer: only the engine ends transfers and resumes waiting tasks, on the loop's thread.
///
/// Others send it messages (``post(_:)``). What libcurl's callbacks bring is kept with each transfer until the turn
/// ends (`CurlEngine+Turn.swift`), so that nothing is resumed below a C frame.
actor CurlEngine: TurnActor {
    nonisolated let eventLoop: EventLoop
    let settings: EngineSettings
    nonisolated var configuration: CurlTransport.Configuration { settings.configuration }
    let pool = SlabPool()
    let budget: BufferBudget
    let active = ActiveTransfers()
    let connections = ConnectionTable()

    // Code that changes the properties marked here calls no other code during the access, and whatever is released with
    // them only enqueues work, so the compiler need not check each access at run time.

    @exclusivity(unchecked) var transfers = TransferTable()
    @exclusivity(unchecked) var queue: HostQueues
    @exclusivity(unchecked) var gate: ResolveGate
    @exclusivity(unchecked) var deadlines = DeadlineHeap()
    @exclusivity(unchecked) var resumptions = Batch<Resumption>()
    @exclusivity(unchecked) var announcements = Batch<Announcement>()
    /// The transfers whose readers may be woken only a moment later.
    @exclusivity(unchecked) var heldBack: Set<UInt64> = []

    @exclusivity(unchecked) private var origins: Origins
    @exclusivity(unchecked) var files: SecurityFiles

    /// The first is created with the first transfer; the last is for new ones.
    @exclusivity(unchecked) var generations: [Generation] = []
    var lastGeneration: UInt64 = 0
    @exclusivity(unchecked) var timers: Timers?
    /// The task that listens for changes of the network.
    @exclusivity(unchecked) var listening: Task<Void, Never>?

    var isTurnScheduled = false
    /// When the idle connections were last looked at, or the loop learned of all that had come.
    var lastLook: Int64 = 0
    var isClosing = false
    var closeWaiters: [CheckedContinuation<Void, Never>] = []

    init(on loop: EventLoop, settings: EngineSettings) {
        eventLoop = loop
        self.settings = settings
        origins = Origins(settings)
        files = SecurityFiles(settings.configuration)
        let configuration = settings.configuration
        budget = BufferBudget(limit: configuration.maximumBufferedBytes)
        queue = HostQueues(
            maximumRunning: configuration.maximumConcurrentTransfers,
            maximumRunningPerHost: configuration.maximumConcurrentTransfersPerHost,
            maximumWaiting: configuration.maximumQueuedTransfers)
        gate = ResolveGate(maximumResolving: configuration.maximumConcurrentLookups)
    }

    /// Runs a message on the loop, after those sent before. May be called from any thread.
    nonisolated func post(_ message: @escaping @Sendable (isolated CurlEngine) -> Void) {
        eventLoop.execute { self.enter(with: message) }
    }

    // MARK: Messages

    func submit(_ exchange: Exchange, _ waiter: Suspension) {
        do {
            // The cancellation may have come first.
            guard !exchange.isCancelled else { throw CancellationError() }
            guard !isClosing else { throw CurlFailure.closed }
            guard !exchange.request.fields.namesProxyAuthorization else {
                throw CurlFailure.proxyAuthorization
            }
            let url = try exchange.request.checkedURL()
            try prepare()
            let origin = origins.origin(of: url)
            if url.scheme == .https || origin.proxy?.kind == .https, let pipe = files.pipe {
                throw CurlFailure.pipe(pipe)
            }
            guard queue.add(exchange.id, host: origin.text) else {
                throw CurlFailure.queueFull(configuration.maximumQueuedTransfers)
            }
            let transfer = CurlTransfer(
                exchange, url: url, origin: origin, waiter: waiter, slot: transfers.nextSlot, pool: pool,
                budget: budget, active: active, now: Monotonic.now)
            transfers.add(transfer)
            arm(transfer)
            if transfer.events != nil { active.note(transfer) }  // so that the turn reports that it is queued
            scheduleTurn()
        } catch {
            refuse(exchange, waiter, error)
        }
    }

    private func refuse(_ exchange: Exchange, _ waiter: Suspension, _ error: any Error) {
        let known: any Error = (error as? EventLoopError).map { CurlFailure.noLoop($0) } ?? error
        exchange.request.observer?(.failed(known as? HTTPClientError, HTTPTimings()))
        exchange.mailbox.leave(.failure(known))
        waiter.resume()
    }

    func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }  // it has ended
        perform(transfer.machine.cancelled(), on: transfer)
    }

    func demand(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        perform(transfer.machine.demanded(now: Monotonic.now), on: transfer)
    }

    func limit(_ id: UInt64, toRemaining total: Duration) {
        guard let transfer = transfers[id] else { return }
        transfer.machine.limit(toRemaining: total, now: Monotonic.now)
        arm(transfer)
        scheduleTurn()
    }

    // MARK: Actions

    /// Does what a machine decided.
    func perform(_ action: TransferMachine.Action, on transfer: CurlTransfer) {
        switch action {
        case .none: break
        case .enterGate: enterGate(transfer)
        case .start: start(transfer)
        case .resume: resume(transfer)
        case .end(let ending): end(transfer, ending, code: CURLE_OK)
        }
    }

    private func enterGate(_ transfer: CurlTransfer) {
        if let lookup = transfer.origin.lookup, !isKnown(transfer.origin) {
            guard gate.enter(transfer.id, lookup: lookup) else { return }
        }
        perform(transfer.machine.gateOpened(), on: transfer)
    }

    private func isKnown(_ origin: Origin) -> Bool {
        guard let current = generations.last, !current.isRetired else { return false }
        return origin.isKnown(in: current.number, at: Monotonic.now)
    }

    private func start(_ transfer: CurlTransfer) {
        guard let generation = try? prepare(), let multi = generation.multi?.curl,
            let handle = generation.handle()
        else {
            transfer.stops(because: CurlFailure.noResources("libcurl makes no handle", requestDisposition: .notSent))
            return finish(transfer, code: CURLE_OUT_OF_MEMORY)
        }
        transfer.handle = handle
        transfer.generation = generation
        generation.transfers += 1
        handle.configure(for: transfer, configuration)
        guard handle.firstError == CURLE_OK else { return finish(transfer, code: handle.firstError) }
        transfer.events?.handOver(now: Monotonic.now)
        check(curl_multi_add_handle(multi, handle.curl), of: generation)
        generation.running += 1
        startNudging()
        scheduleTurn()
    }

    private func resume(_ transfer: CurlTransfer) {
        guard let handle = transfer.handle else { return }
        let generation = transfer.generation
        // Brings bytes immediately, and may pause again.
        unpause(transfer, handle, to: transfer.pauseBits(resumingUpload: false))
        generation?.sockets[transfer.sockets.watched]?.readOn()
    }

    /// Lets libcurl go on with what is not paused.
    ///
    /// It calls the callbacks during this call. If they stop it, it reports that only here, and goes on all the same.
    func unpause(_ transfer: CurlTransfer, _ handle: EasyHandle, to bits: CInt) {
        let code = curl_easy_pause(handle.curl, bits)
        active.note(transfer)
        scheduleTurn()
        // This is not an error of the transfer: libcurl is done with it, and the turn's end will learn how it ended.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        finish(transfer, code: code)
    }

    /// Ends a transfer that libcurl is done with, or may not go on with; `code` is libcurl's.
    func finish(_ transfer: CurlTransfer, succeeded: Bool = false, code: CURLcode) {
        guard case .end(let ending) = transfer.machine.engineFinished(succeeded: succeeded) else { return }
        end(transfer, ending, code: code)
    }

    /// Removes a transfer from libcurl, if libcurl has it.
    func takeFromLibcurl(_ transfer: CurlTransfer) {
        guard let handle = transfer.handle, let generation = transfer.generation else { return }
        if let multi = generation.multi?.curl { curl_multi_remove_handle(multi, handle.curl) }
        generation.transfers -= 1
        generation.running = min(generation.running, generation.transfers)
        handle.transfer = nil
        (transfer.handle, transfer.generation) = (nil, nil)
    }

    /// Removes a transfer from libcurl and everywhere else, and keeps what is to be resumed and reported.
    private func end(_ transfer: CurlTransfer, _ ending: TransferMachine.Ending, code: CURLcode) {
        let outcome = transfer.outcome(of: ending, code: code)
        transfer.noteProgress()
        let events = transfer.events?.finish(
            outcome, transfer.handle, taken: transfer.upload?.sent ?? 0, received: transfer.received,
            now: Monotonic.now)
        if let events { announcements.append(events) }
        if let handle = transfer.handle, let generation = transfer.generation {
            if let maximum = configuration.maximumRequestsPerConnection, outcome == nil {
                let socket = handle.socket
                connections.used(socket, atMost: maximum, isFree: !generation.isInUse(socket))
            }
            if outcome == nil { transfer.endIdleConnectionIfMoreCame(in: generation) }
            generation.forgetUpload(of: transfer)
            takeFromLibcurl(transfer)
            if outcome == nil { generation.takeBack(handle) }
        }
        deadlines.remove(slot: transfer.slot)
        transfers.remove(transfer.id)
        endUpload(transfer)
        queue.remove(transfer.id)
        open(gate.left(transfer.id))
        let mailbox = transfer.mailbox
        // An observer learns of the end before the reader, which might be faster than the turn.
        let isTold = transfer.events != nil
        let end = BodyEnd(mailbox, outcome, transfer.parser.trailerFields)
        if isTold { resumptions.append(.bodyEnd(end)) }
        publishHead(transfer)  // the end of the body hands that over too
        if let waiter = transfer.headWaiter {
            transfer.headWaiter = nil
            mailbox.leave(.failure(outcome ?? CurlFailure.noHead))
            resumptions.append(.task(waiter))
        }
        if !isTold, let reader = end.finish() { resumptions.append(.task(reader)) }
        scheduleTurn()
    }

    /// Lets transfers go on whose host another one has resolved, or which may now try that themselves.
    func open(_ ids: [UInt64]) {
        for id in ids {
            guard let transfer = transfers[id] else { continue }
            perform(transfer.machine.gateOpened(), on: transfer)
        }
    }
}
