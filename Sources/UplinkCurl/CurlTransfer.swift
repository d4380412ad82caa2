// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkHTTP

/// A transfer as the engine has it: its machine, its parser, its easy handle while there is one. The loop's thread only.
final class CurlTransfer {
    let id: UInt64
    let exchange: Exchange
    let url: HTTPURL
    /// As in ``CurlEngine``: nothing that changes it calls anybody.
    @exclusivity(unchecked) var machine: TransferMachine
    /// Whoever waits for the head, until they have it.
    var headWaiter: Suspension?
    /// Its slot in the engine's table, and in the heap of deadlines.
    let slot: UInt32
    /// What is set in the heap.
    var armedDeadline: Int64?
    /// The handle, while libcurl has the transfer.
    var handle: EasyHandle?
    /// The request's body, if it has one.
    let upload: Upload?
    /// Producers to be ended with the turn.
    @exclusivity(unchecked) var uploadEnds: [UploadEnd] = []
    /// Sending was held up so that libcurl reads what the server has sent meanwhile.
    var reachesForAnswer = false
    /// Sending was held up the last time.
    var hasReached = false
    /// Where libcurl has had the transfer watched last, and this end's port there; negative before.
    var watchedSocket: curl_socket_t = -1
    var localPort: CInt = -1
    /// Where the request's body goes out; negative before.
    var uploadSocket: curl_socket_t = -1
    /// What the server had said when sending failed, and libcurl has not read.
    var salvaged: [UInt8] = []
    private var hasTakenRefusal = false
    /// The server knows no expectations, and libcurl sends the request again; what comes until then is no answer.
    private var isAskedAgain = false
    /// The request has gone out on a connection that was there before.
    private var usesOldConnection = false
    /// It would have sent it again though its answer stands, and was kept from it.
    var wasRepetitionStopped = false
    /// It has sent it again, and does so once.
    private(set) var wasAskedAgain = false
    /// What libcurl has it in.
    var generation: Generation?
    /// For its observer, if it has one.
    let events: EventLog?
    @exclusivity(unchecked) var sockets = OpenedSockets()
    /// This end of its connection, once there is one.
    var localAddress: String?
    /// The network under its connection is gone.
    var isStrandedByChange = false
    /// It is paused because all bodies together hold too much.
    private(set) var isHeldByBudget = false

    /// What the callbacks have brought, until the turn ends.
    private(set) var head: ReceivedHead?
    @exclusivity(unchecked) private(set) var parser: HeadParser
    /// Why we stopped libcurl, which then reports a mere write error.
    private(set) var refusal: HTTPClientError?
    /// Bytes of the body so far.
    private(set) var received: Int64 = 0
    /// Its reader is to be looked for when the turn ends: something of the body has come.
    var hasNewsForReader = false
    private(set) var framing: Framing?
    private var status = 0
    let origin: Origin
    private let pool: SlabPool
    private let budget: BufferBudget
    /// Where the callbacks say that something has happened.
    let active: ActiveTransfers
    /// Whether they have said so in this turn.
    var isActive = false

    init(
        _ exchange: Exchange, url: HTTPURL, origin: Origin, waiter: Suspension, slot: UInt32, pool: SlabPool,
        budget: BufferBudget, active: ActiveTransfers, now: Int64
    ) {
        (id, self.exchange, self.url, headWaiter) = (exchange.id, exchange, url, waiter)
        (self.slot, self.pool, self.budget, self.active) = (slot, pool, budget, active)
        self.origin = origin
        upload = exchange.makeUpload()
        let request = exchange.request
        events = request.observer.map { EventLog($0, now: now) }
        machine = TransferMachine(timeouts: request.timeouts, highMark: request.limits.bufferedBytes, now: now)
        parser = HeadParser(method: request.method, limits: request.limits)
    }

    var mailbox: Mailbox { exchange.mailbox }

    /// The proxy that it goes through.
    var proxy: CurlTransport.Proxy? { origin.proxy }

    /// Whether it is over, for whatever reason.
    var hasEnded: Bool { if case .ended = machine.phase { true } else { false } }

    /// Whether its body is held up.
    var isPaused: Bool { if case .bodyPaused = machine.phase { true } else { false } }

    /// Whether what libcurl calls headers are trailers.
    var hasFinalHead: Bool { framing != nil }

    var expected: Int64? {
        guard case .length(let length) = framing?.kind else { return nil }
        return length
    }

    /// Stops the transfer for a reason of ours.
    func refuse(_ error: HTTPClientError) { refusal = refusal ?? error }

    /// libcurl is about to send the request, perhaps not for the first time. False stops it.
    func requestGoesOut(now: Int64) -> Bool {
        usesOldConnection = sockets.sinceRequest == 0
        let isRepetition = machine.phase == .awaitingHead
        if isRepetition {
            // libcurl counts its repetitions over all of a handle's transfers, and gives up after five.
            handle?.isParticular = true
            salvaged = []  // was said on another connection
            // What libcurl has taken of a body and could not send it does not ask for again.
            guard rewindUpload() else {
                refuse(CurlFailure.bodyIsGone)
                return false
            }
        }
        // Should this connection prove dead, the next one is new, and not another that has been idle for as long.
        if isRepetition || upload != nil { handle?.setFreshConnection(true) }
        if !sockets.all.isEmpty { origin.wasLookedUp(in: generation, now: now) }
        machine.requestGoesOut(now: now)
        if sockets.all.isEmpty || proxy != nil { generation?.gatesMayOpen = true }
        if let socket = sockets.connection { generation?.socketConnected(socket.descriptor) }
        return true
    }

    /// Whether the request is to go out again, since the connection that was there before had died: what libcurl does by
    /// itself, but not where it is the body that cannot be sent.
    func goesOutAgain(after code: CURLcode) -> Bool {
        guard code == CURLE_SEND_ERROR, usesOldConnection, machine.phase == .awaitingHead else { return false }
        return exchange.mayBeRepeated && !parser.hasBegun && refusal == nil && upload?.failure == nil
    }

    /// libcurl brings a line: whether it is one of those of a head that goes on as the newest one of its server did.
    func takesRepetition(_ line: UnsafeRawBufferPointer) -> Bool { parser.repeats(line) }

    /// libcurl brings a line of a head or of the trailers. False stops the transfer.
    func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        isAskedAgain = false
        if let events, parser.isAtStatusLine { events.beginHead(now: Monotonic.now) }
        do throws(HTTPClientError) {
            switch try parser.take(line: line, after: origin.newestHead) {
            case .more: break
            case .interim(let status): events?.note(.interim(status))
            case .final(let head) where refusesExpectation(head):
                (isAskedAgain, wasAskedAgain) = (true, true)
                // libcurl waits no more, and would send the field all the same. It reads the list when it asks again.
                handle?.setFields(self, expectsContinue: false)
                endConnectionBehindExpectation()
                parser = HeadParser(method: exchange.request.method, limits: exchange.request.limits)
                events?.note(.interim(head.status))
            case .final(let head):
                let now = Monotonic.now
                guard case .deliverHead = machine.headArrived(now: now) else { return false }
                (self.head, framing, status) = (head, head.framing, head.status.code)
                origin.isHTTP10 = parser.isHTTP10
                if let new = parser.remembered { origin.newestHead = new }
                events?.finishHead(head.status, now: now)
                if status == HTTPResponse.Status.expectationFailed.code { endConnectionBehindExpectation() }
                hearOfLeftovers()
                if isAnswerWhole { endConnectionIfMoreComes() }
            case .trailers: break
            }
            return true
        } catch {
            var error = error
            if hasFinalHead { error.phase = .body }
            refusal = error
            return false
        }
    }

    /// libcurl brings bytes of the body.
    ///
    /// - Returns: Whether they are kept; libcurl brings them again when the transfer was paused.
    func takeBody(_ bytes: UnsafeRawBufferPointer, now: Int64) -> TransferMachine.Action {
        guard !isAskedAgain else { return .keep }
        hasNewsForReader = true
        let isShort = budget.isSpent
        var action: TransferMachine.Action?
        mailbox.offer(bytes, expecting: expected.map { $0 - received }, from: pool) { buffered in
            let next = handle?.bytes(behind: bytes.count) ?? 0
            action = machine.bytesArrived(
                bytes.count, buffered: buffered, next: next, isMemoryShort: isShort, now: now)
            if case .keep = action { return true } else { return false }
        }
        guard let action else { return .pause }  // the message that ends the transfer is on its way
        switch action {
        case .keep:
            received += Int64(bytes.count)
            isHeldByBudget = false
            if received == expected { endConnectionIfMoreComes() }
        case .pause: isHeldByBudget = isShort
        case .none, .enterGate, .start, .deliverHead, .resume, .end: isHeldByBudget = false
        }
        return action
    }

    /// Takes the head that has come since the last turn.
    func takeHead() -> ReceivedHead? {
        defer { head = nil }
        return head
    }

    /// Takes the producers that have been let go since the last turn.
    func takeUploadEnds() -> [UploadEnd] {
        defer { uploadEnds = [] }
        return uploadEnds
    }

    /// Whether all of the answer has come, as far as its head tells.
    var isAnswerWhole: Bool {
        switch framing?.kind {
        case .some(.none): true
        case .length(let length): received == length
        case .chunked, .untilClose, nil: false
        }
    }

    /// Whether the server has refused the request while the request's producer has nothing. libcurl would not send any
    /// more, but waits for the producer all the same.
    private var isRefused: Bool { upload?.isPaused == true && status >= 300 }

    /// Whether it has, and has said all it has to say.
    var isRefusedMeanwhile: Bool { isRefused && isAnswerWhole }

    /// Whether libcurl is to be told to go on with the request, so that it finds nothing to wait for: once for a refusal
    /// whose end only libcurl can tell.
    func takeUnfinishedRefusal() -> Bool {
        guard isRefused, !isAnswerWhole, !hasTakenRefusal else { return false }
        hasTakenRefusal = true
        return true
    }

    /// What is wrong with a body that libcurl calls whole.
    var incompleteness: HTTPClientError? {
        guard hasFinalHead else { return CurlFailure.noHead }
        guard let expected, received != expected else { return nil }
        return CurlFailure.truncated(received: received, expected: expected)
    }
}

/// The transfers that something has happened to in this turn, each once.
final class ActiveTransfers {
    @exclusivity(unchecked) private var transfers = Batch<CurlTransfer>()

    func note(_ transfer: CurlTransfer) {
        guard !transfer.isActive else { return }
        transfer.isActive = true
        transfers.append(transfer)
    }

    /// Goes through those that were noted; some may have ended since. What is noted meanwhile is for the next time.
    func takeEach(_ body: (CurlTransfer) -> Void) {
        let noted = transfers.take()
        for transfer in noted { transfer.isActive = false }
        for transfer in noted { body(transfer) }
        transfers.giveBack(noted)
    }
}
