// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// The one writer: it alone ends transfers and resumes those who wait, and it lives on the loop's thread.
///
/// Others send messages (``post(_:)``). What libcurl's callbacks bring is kept with each transfer until the turn ends
/// (`CurlEngine+Turn.swift`), in no C frame.
actor CurlEngine: LoopActor {
    nonisolated let eventLoop: EventLoop
    let configuration: CurlTransport.Configuration
    let pool = SlabPool()
    let active = ActiveTransfers()

    /// Made with the first transfer, and made anew when libcurl calls it broken.
    var multi: CurlMulti?
    /// libcurl is closing its connections and wants no new watchers.
    var isCleaningUp = false
    /// What broke the multi, until the turn ends.
    var breakdown: String?
    var sockets: [curl_socket_t: WatchedSocket] = [:]
    var timers: Timers?
    /// A connection was opened: somebody's name has been resolved.
    var hasOpenedSocket = false

    var transfers: [UInt64: CurlTransfer] = [:]
    var queue: TransferQueue
    var gate: ResolveGate
    var deadlines = DeadlineHeap()
    /// Whose deadline a slot of the heap is.
    var slotOwners: [UInt64] = []
    var freeSlots: [UInt32] = []

    var isTurnScheduled = false
    var resumptions: [Resumption] = []
    var isClosing = false
    var closeWaiters: [CheckedContinuation<Void, Never>] = []

    init(on loop: EventLoop, configuration: CurlTransport.Configuration) {
        eventLoop = loop
        self.configuration = configuration
        queue = TransferQueue(
            maximumRunning: configuration.maximumConcurrentTransfers,
            maximumWaiting: configuration.maximumQueuedTransfers)
        gate = ResolveGate(maximumResolving: configuration.maximumConcurrentLookups)
    }

    var census: (transfers: Int, sockets: Int) { (transfers.count, sockets.count) }

    /// Runs a message on the loop, after those that were sent before. From any thread.
    nonisolated func post(_ message: @escaping @Sendable (isolated CurlEngine) -> Void) {
        eventLoop.execute { self.assumeIsolated { message($0) } }
    }

    // MARK: Messages

    func submit(_ exchange: Exchange, _ waiter: CurlTransfer.HeadWaiter) {
        do {
            // The cancellation may have come before.
            guard !exchange.isCancelled else { throw CancellationError() }
            guard !isClosing else { throw CurlFailure.closed }
            let url = try exchange.request.head.checkedURL()
            try prepare()
            guard queue.add(exchange.id) else {
                throw CurlFailure.queueFull(configuration.maximumQueuedTransfers)
            }
            let transfer = CurlTransfer(
                exchange, url: url, waiter: waiter, deadlineSlot: takeSlot(for: exchange.id), pool: pool,
                active: active, now: Monotonic.now)
            transfers[exchange.id] = transfer
            active.note(exchange.id)  // so that the turn arms its deadline
            scheduleTurn()
        } catch {
            let known = (error as? EventLoopError).map { CurlFailure.noLoop($0) }
            exchange.didReceive(head: .failure(known ?? error))
            waiter.resume()
        }
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
        active.note(id)
        scheduleTurn()
    }

    // MARK: Actions

    /// Does what a machine wants.
    func perform(_ action: TransferMachine.Action, on transfer: CurlTransfer) {
        switch action {
        case .none, .keep, .pause, .deliverHead: break  // the last three are done where the bytes are
        case .enterGate: enterGate(transfer)
        case .start: start(transfer)
        case .resume: resume(transfer)
        case .end(let ending): end(transfer, ending, code: CURLE_OK)
        }
    }

    private func enterGate(_ transfer: CurlTransfer) {
        let host = transfer.url.hostWithoutBrackets
        let isKnown =
            IPAddress(host) != nil || configuration.resolve["\(transfer.url.host):\(transfer.url.port)"] != nil
        if isKnown || gate.enter(transfer.id, host: host) { perform(transfer.machine.gateOpened(), on: transfer) }
    }

    private func start(_ transfer: CurlTransfer) {
        if multi == nil { try? prepare() }
        guard let multi, let handle = EasyHandle() else {
            return perform(transfer.machine.engineFinished(succeeded: false), on: transfer)
        }
        transfer.handle = handle
        handle.configure(for: transfer, configuration, engine: Unmanaged.passUnretained(self).toOpaque())
        handle.set(CURLOPT_SHARE, pointer: multi.share)
        guard handle.firstError == CURLE_OK else {
            return end(transfer, transfer.machine.engineFinished(succeeded: false), code: handle.firstError)
        }
        check(curl_multi_add_handle(multi.curl, handle.curl))
        startNudging()
        scheduleTurn()
    }

    private func resume(_ transfer: CurlTransfer) {
        guard let handle = transfer.handle else { return }
        // Brings bytes at once, and may pause again.
        curl_easy_pause(handle.curl, transfer.pauseBits(resumingUpload: false))
        active.note(transfer.id)
        scheduleTurn()
    }

    func end(_ transfer: CurlTransfer, _ action: TransferMachine.Action, code: CURLcode) {
        guard case .end(let ending) = action else { return }
        end(transfer, ending, code: code)
    }

    /// Takes a transfer from libcurl and everywhere else, and remembers whom to tell.
    private func end(_ transfer: CurlTransfer, _ ending: TransferMachine.Ending, code: CURLcode) {
        let outcome = transfer.outcome(of: ending, code: code)
        if let handle = transfer.handle {
            if let multi { curl_multi_remove_handle(multi.curl, handle.curl) }
            transfer.handle = nil
        }
        transfers[transfer.id] = nil
        endUpload(transfer)
        queue.remove(transfer.id)
        deadlines.remove(slot: transfer.deadlineSlot)
        freeSlots.append(transfer.deadlineSlot)
        open(gate.left(transfer.id))
        publish(transfer)
        transfer.exchange.didReceive(trailerFields: transfer.parser.trailerFields)
        if let waiter = transfer.headWaiter {
            transfer.headWaiter = nil
            transfer.exchange.didReceive(head: .failure(outcome ?? CurlFailure.noHead))
            resumptions.append(.head(waiter))
        }
        if let resumption = transfer.exchange.mailbox.finish(throwing: outcome) {
            resumptions.append(.body(resumption))
        }
        scheduleTurn()
    }

    /// Lets transfers go on whose host somebody has resolved, or may try to.
    func open(_ ids: [UInt64]) {
        for id in ids {
            guard let transfer = transfers[id] else { continue }
            perform(transfer.machine.gateOpened(), on: transfer)
        }
    }

    private func takeSlot(for id: UInt64) -> UInt32 {
        if let slot = freeSlots.popLast() {
            slotOwners[Int(slot)] = id
            return slot
        }
        slotOwners.append(id)
        return UInt32(slotOwners.count - 1)
    }

    /// Makes the multi and the timers where they are missing.
    private func prepare() throws {
        if timers == nil { timers = try Timers(for: self) }
        guard multi == nil else { return }
        multi = CurlMulti(
            engine: Unmanaged.passUnretained(self).toOpaque(),
            maximumIdleConnections: configuration.maximumIdleConnections)
        if multi == nil { throw CurlFailure.engine("libcurl has no memory or descriptors for another handle") }
    }
}

/// Somebody to be resumed when the turn ends, in no lock and in no C frame.
enum Resumption {
    case head(CurlTransfer.HeadWaiter)
    case body(Mailbox.Resumption)
    /// The producer of a request's body, who has room.
    case upload(UploadPipe.Resumption)
    /// The producer of a request's body that nobody wants any more.
    case uploadEnd(UploadEnd)
    /// An observer's turn.
    case event(@Sendable (HTTPEvent) -> Void, HTTPEvent)

    func resume() {
        switch self {
        case .head(let waiter): waiter.resume()
        case .body(let resumption): resumption.resume()
        case .upload(let resumption): resumption.resume()
        case .uploadEnd(let end): end.perform()
        case .event(let observer, let event): observer(event)
        }
    }
}
