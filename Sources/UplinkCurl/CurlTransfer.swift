// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// A transfer as the engine has it: its machine, its parser, and its easy handle while there is one. Only for the
/// loop's thread.
final class CurlTransfer {
    let id: UInt64
    let exchange: Exchange
    let url: HTTPURL
    /// As in ``CurlEngine``: nothing that changes it calls other code.
    @exclusivity(unchecked) var machine: TransferMachine
    /// The task that waits for the head, until it has it.
    var headWaiter: Suspension?
    /// Its slot in the engine's table, and in the heap of deadlines.
    let slot: UInt32
    /// The deadline that is in the heap.
    var armedDeadline: Int64?
    /// The handle, while libcurl has the transfer.
    var handle: EasyHandle?
    /// The request's body, if it has one.
    let upload: Upload?
    /// Producers to be ended with the turn.
    @exclusivity(unchecked) var uploadEnds: [UploadEnd] = []
    /// Whether sending is held up, so that libcurl reads an answer that has come before the request's end.
    var earlyAnswer = EarlyAnswer.unchecked
    /// What the server had sent when sending failed, and libcurl did not read.
    var unreadAnswer: [UInt8] = []
    /// Whether the last piece of a head that libcurl has shown does not end a line.
    var isWithinLine = false
    private var hasTakenUnfinishedRefusal = false
    private(set) var expectation = Expectation.standing
    /// Whether the request went out on a connection that was there before.
    private var usesOldConnection = false
    /// Whether libcurl wanted to send the request again although it had been answered, and was kept from it.
    var wasRepetitionStopped = false
    /// The generation in which libcurl has it.
    var generation: Generation?
    /// The events for its observer, if it has one.
    let events: EventLog?
    @exclusivity(unchecked) var sockets = TransferSockets()
    /// Whether it was ended because the local address of its connection is gone.
    var isAddressGone = false
    /// Whether it is paused because all bodies together hold too much.
    private(set) var isHeldByBudget = false

    /// The head that the callbacks have brought, until the turn ends.
    private(set) var head: ReceivedHead?
    @exclusivity(unchecked) private(set) var parser: HeadParser
    /// Why we stopped libcurl, which then reports only a write error.
    private(set) var stopReason: HTTPClientError?
    /// Bytes of the body so far.
    private(set) var received: Int64 = 0
    /// Whether its reader may have to be woken when the turn ends, because something of the body has come.
    var hasNewsForReader = false
    private(set) var framing: Framing?
    private var status = 0
    let origin: Origin
    private let pool: SlabPool
    private let budget: BufferBudget
    /// Where the callbacks record that something has happened.
    let active: ActiveTransfers
    /// Whether they have done so in this turn.
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

    /// Whether it has ended, for whatever reason.
    var hasEnded: Bool { if case .ended = machine.phase { true } else { false } }

    /// Whether its body is held up.
    var isPaused: Bool { if case .bodyPaused = machine.phase { true } else { false } }

    /// Whether lines that libcurl calls headers are trailers.
    var hasFinalHead: Bool { framing != nil }

    var expected: Int64? {
        guard case .length(let length) = framing?.kind else { return nil }
        return length
    }

    /// Records that we stop the transfer, and why; the first reason counts. What stops it is the callback's result, or
    /// `finish`.
    func stops(because error: HTTPClientError) { stopReason = stopReason ?? error }

    /// For how many nanoseconds libcurl waits for a 100 (Continue).
    private static let consentTime: Int64 = 1_000_000_000

    /// Called when libcurl is about to send the request, perhaps not for the first time. False stops it.
    func requestGoesOut(now: Int64) -> Bool {
        usesOldConnection = sockets.sinceRequest == 0
        guard !mightGoOutTwice else { return false }
        let isRepetition = machine.phase == .awaitingHead
        if isRepetition {
            // libcurl counts its repetitions over all of a handle's transfers, and gives up after five.
            handle?.isParticular = true
            unreadAnswer = []  // that came on another connection
            // libcurl does not ask again for the part of a body that it took but could not send.
            guard rewindUpload() else {
                stops(because: CurlFailure.bodyIsGone)
                return false
            }
        }
        // If this connection turns out dead, the next one must be new, not another that has been idle for as long.
        if isRepetition || upload != nil { handle?.setFreshConnection(true) }
        if !sockets.all.isEmpty { origin.wasLookedUp(in: generation, now: now) }
        let isHeldBack = upload?.expectsContinue == true && expectation == .standing
        machine.requestGoesOut(heldBack: isHeldBack ? Self.consentTime : 0, now: now)
        if sockets.all.isEmpty || proxy != nil { generation?.gatesMayOpen = true }
        if let socket = sockets.connection { generation?.socketConnected(socket.descriptor, of: self) }
        return true
    }

    /// Whether a request that must not be done twice is about to go over a connection that may be dead. After a 417
    /// libcurl takes any, whatever `CURLOPT_FRESH_CONNECT` says, and repeats the request if it is.
    private var mightGoOutTwice: Bool { expectation == .refused && usesOldConnection && !exchange.mayBeRepeated }

    /// Whether the request is to go out again because of the connection that was there before.
    func goesOutAgain(after code: CURLcode) -> Bool {
        guard usesOldConnection, sockets.sinceRequest == 0, machine.phase == .awaitingHead, !parser.hasBegun,
            stopReason == nil, upload?.failure == nil
        else { return false }
        return switch code {
        // It had died. libcurl repeats a request by itself, but not if it is the body that cannot be sent.
        case CURLE_SEND_ERROR: exchange.mayBeRepeated
        // Its last answer was one of HTTP/1.0, and libcurl sends no chunks there. Nothing has gone out.
        case CURLE_UPLOAD_FAILED: upload?.hasBegun == false
        case CURLE_ABORTED_BY_CALLBACK: mightGoOutTwice
        default: false
        }
    }

    /// Takes a line from libcurl if it belongs to a head that continues like the newest one of its server; returns
    /// whether it does.
    func takesRepetition(_ line: UnsafeRawBufferPointer) -> Bool { parser.repeats(line) }

    /// Takes a line of a head or of the trailers from libcurl. False stops the transfer.
    func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        if expectation == .refused { expectation = .dropped }
        if let events, parser.isAtStatusLine { events.beginHead(now: Monotonic.now) }
        do throws(HTTPClientError) {
            switch try parser.take(line: line, after: origin.newestHead) {
            case .more: break
            case .interim(let status): events?.note(.interim(status))
            case .final(let head) where refusesExpectation(head):
                expectation = .refused
                // libcurl does not wait any more, but would still send the field. It reads the list when it sends the
                // request again.
                handle?.setFields(self, expectsContinue: false)
                endConnectionBehindExpectation(head.status)
                parser = HeadParser(method: exchange.request.method, limits: exchange.request.limits)
                events?.note(.interim(head.status))
            case .final(let head):
                let now = Monotonic.now
                guard machine.headArrived(isRefusal: Self.isRefusal(head.status.code), now: now) else { return false }
                (self.head, framing, status) = (head, head.framing, head.status.code)
                if let new = parser.remembered { origin.newestHead = new }
                events?.finishHead(head.status, now: now)
                endConnectionBehindExpectation(head.status)
                hearOfLeftovers()
                forgetUploadIfWhole()
                // libcurl looks for `keep-alive` first.
                if parser.isHTTP10, head.saysClose { handle?.forbidReuse() }
                if isAnswerWhole { endConnectionIfMoreComes() }
            case .trailers: break
            }
            return true
        } catch {
            var error = error
            if hasFinalHead { error.phase = .body }
            stops(because: error)
            return false
        }
    }

    /// Takes bytes of the body from libcurl.
    ///
    /// - Returns: What to do; when that is to pause, libcurl brings these bytes again.
    func takeBody(_ bytes: UnsafeRawBufferPointer, now: Int64) -> TransferMachine.Intake {
        guard expectation != .refused else { return .keep }
        hasNewsForReader = true
        let isShort = budget.isSpent
        var intake: TransferMachine.Intake?
        mailbox.offer(bytes, expecting: expected.map { $0 - received }, from: pool) { buffered in
            let next = handle?.bytes(behind: bytes.count) ?? 0
            intake = machine.bytesArrived(
                bytes.count, buffered: buffered, next: next, isMemoryShort: isShort, now: now)
            return intake == .keep
        }
        guard let intake else { return .pause }  // the message that ends the transfer is on its way
        switch intake {
        case .keep:
            received += Int64(bytes.count)
            isHeldByBudget = false
            if received == expected { endConnectionIfMoreComes() }
        case .pause: isHeldByBudget = isShort
        case .refuse: isHeldByBudget = false
        }
        return intake
    }

    /// Takes the head that has come since the last turn.
    func takeHead() -> ReceivedHead? {
        defer { head = nil }
        return head
    }

    /// Takes the producers that were released since the last turn.
    func takeUploadEnds() -> [UploadEnd] {
        defer { uploadEnds = [] }
        return uploadEnds
    }

    /// Whether the whole answer has come, as far as its head tells.
    var isAnswerWhole: Bool {
        switch framing?.kind {
        case .some(.none): true
        case .length(let length): received == length
        case .chunked, .untilClose, nil: false
        }
    }

    /// Whether the server has refused the request while the request's producer has nothing to send. libcurl would not
    /// send any more, but waits for the producer all the same.
    private var isRefusedMeanwhile: Bool { upload?.isPaused == true && Self.isRefusal(status) }

    /// Whether a status that comes before the end of the request says that the rest is not wanted.
    private static func isRefusal(_ status: Int) -> Bool { status >= 300 }

    /// Whether it has refused it, and its answer is whole.
    var isOverByRefusal: Bool { isRefusedMeanwhile && isAnswerWhole }

    /// Whether to make libcurl go on with the request, so that it finds that there is nothing to wait for. True once,
    /// for a refusal whose end only libcurl can recognise.
    func takeUnfinishedRefusal() -> Bool {
        guard isRefusedMeanwhile, !isAnswerWhole, !hasTakenUnfinishedRefusal else { return false }
        hasTakenUnfinishedRefusal = true
        return true
    }

    /// The error if a body that libcurl calls whole is not.
    var incompleteness: HTTPClientError? {
        guard hasFinalHead else { return CurlFailure.noHead }
        guard let expected, received != expected else { return nil }
        return CurlFailure.truncated(received: received, expected: expected)
    }
}
