// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import HTTPTypes
import UplinkEventLoop
import UplinkHTTP

extension CurlTransfer {
    /// Notes that libcurl has taken bytes of the request's body.
    func noteSent(now: Int64, isEnd: Bool = false) {
        if isEnd || upload?.isWhole == true { machine.bodyWasSent(now: now) } else { machine.bodyIsSent(now: now) }
    }

    /// Notes that the producer of the request's body has nothing for libcurl.
    func noteSendingWaits() { machine.bodyIsAwaited() }

    /// How much of what was sent the server has, while a body is on its way.
    var sendingProgress: SendingProgress? {
        guard upload != nil, sockets.upload >= 0, machine.phase == .awaitingHead || machine.phase == .bodyFlowing else {
            return nil
        }
        return SendingProgress(ofConnection: sockets.upload) ?? SendingProgress(ofUnixSocket: sockets.upload)
    }

    /// For how many milliseconds a server may read nothing of the body, which to the kernel looks as if it were gone.
    /// The request's own timeouts come first, because they say what has happened; nil if it has none.
    var unacknowledgedLimit: CInt? {
        let timeouts = exchange.request.timeouts
        guard let firstByte = timeouts.firstByte, let stall = timeouts.stall else { return nil }
        return min(max(firstByte, stall).milliseconds, .max - 5000) + 5000
    }

    /// Called when the server has everything that was sent, as far as is known.
    func forgetUploadIfWhole() {
        if upload?.isWhole == true { generation?.forgetUpload(of: self) }
    }

    /// Notes for the observer, once, everything that went out in this turn.
    func noteProgress() {
        guard let events, let event = upload?.progress() else { return }
        events.note(event)
    }

    /// Called when libcurl wants to send the request's body again.
    func rewindUpload() -> Bool {
        guard let upload else { return true }
        return upload.rewind { uploadEnds.append($0) }
    }

    /// Whether an answer only refuses the expectation of a 100: libcurl then sends the request again without it (RFC
    /// 9110, section 10.1.1), unless the connection ends with the answer.
    func refusesExpectation(_ head: ReceivedHead) -> Bool {
        guard let upload, upload.expectsContinue, expectation == .standing, head.status == .expectationFailed else {
            return false
        }
        let ends = head.framing.kind == .untilClose || parser.isHTTP10 || head.saysClose
        return !ends && upload.canBeRepeated
    }

    /// Closes the connection if a body that was announced with an expectation is not sent, or not to its end: the
    /// server may take for it whatever follows (RFC 9112, section 6.3).
    ///
    /// libcurl does not begin a body after a final answer, and stops in the middle of one only after a 417.
    func endConnectionBehindExpectation(_ answer: HTTPResponse.Status) {
        guard let upload, upload.expectsContinue else { return }
        if !upload.hasBegun || answer == .expectationFailed { handle?.forbidReuse() }
    }

    /// libcurl's code, corrected if the answer was whole before the request was.
    ///
    /// A server may answer early and close the connection: sending then fails, but what was not sent does not matter.
    func corrected(_ code: CURLcode) -> CURLcode {
        guard upload != nil else { return code }
        switch code {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            takeUnreadAnswer()
            return isAnswerWhole ? CURLE_OK : code
        // libcurl has not given us the body of the answer after which it wanted to repeat the request.
        case CURLE_ABORTED_BY_CALLBACK where wasRepetitionStopped:
            return isAnswerWhole ? CURLE_OK : CURLE_PARTIAL_FILE
        default: return code
        }
    }

    // MARK: What a server said before sending failed

    /// Keeps what the server has sent, because libcurl, after failing to send, closes the connection without looking.
    /// What is encrypted cannot be read without libcurl.
    func keepUnreadAnswer(from descriptor: curl_socket_t) {
        guard machine.phase == .awaitingHead, isInClear, !parser.hasBegun else { return }
        let limits = exchange.request.limits
        let limit = min(limits.headerBytes, 1 << 20) + min(limits.bufferedBytes, 1 << 20)
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while unreadAnswer.count < limit {
            let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return }
            unreadAnswer += buffer[..<count]
        }
    }

    private func takeUnreadAnswer() {
        var rest = unreadAnswer[...]
        unreadAnswer = []
        while head == nil, let end = rest.firstIndex(of: 10) {
            let isTaken = rest[...end].withUnsafeBytes { takeHeader($0) }
            guard isTaken else { return }
            rest = rest[(end + 1)...]
        }
        guard head != nil, let expected, rest.count >= expected else { return }
        _ = rest.prefix(Int(expected)).withUnsafeBytes { takeBody($0, now: Monotonic.now) }
    }

    /// The directions that stay paused when one goes on.
    func pauseBits(resumingUpload: Bool) -> CInt {
        if resumingUpload { return machine.phase == .bodyPaused ? CInt(CURLPAUSE_RECV) : CInt(CURLPAUSE_CONT) }
        return upload?.isPaused == true ? CInt(CURLPAUSE_SEND) : CInt(CURLPAUSE_CONT)
    }
}

extension CurlEngine: BlockingWork {
    package nonisolated func performBlocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await eventLoop.offLoop(work)
        } catch let error as EventLoopError {
            throw CurlFailure.noLoop(error)
        }
    }

    /// Called when a producer has something for libcurl, which found nothing before, or has failed.
    func feed(_ id: UInt64) {
        guard let transfer = transfers[id], let upload = transfer.upload else { return }  // it has ended
        guard upload.failure == nil else { return finish(transfer, code: CURLE_ABORTED_BY_CALLBACK) }
        resumeUpload(transfer)
    }

    /// Does what the end of a turn has to for a transfer with a body: a producer that has room goes on, and progress is
    /// reported.
    func flushUpload(_ transfer: CurlTransfer) {
        guard let upload = transfer.upload else { return }
        for end in transfer.takeUploadEnds() { resumptions.append(.uploadEnd(end)) }
        if let producer = upload.flush() { resumptions.append(.task(producer)) }
        if transfer.earlyAnswer == .awaited { post { [id = transfer.id] in $0.goOnBehindEarlyAnswer(id) } }
        transfer.noteProgress()
    }

    /// Ends the production of a body that is no longer wanted.
    func endUpload(_ transfer: CurlTransfer) {
        for end in transfer.takeUploadEnds() { resumptions.append(.uploadEnd(end)) }
        if let end = transfer.upload?.stop() { resumptions.append(.uploadEnd(end)) }
    }

    private func goOnBehindEarlyAnswer(_ id: UInt64) {
        guard let transfer = transfers[id], transfer.earlyAnswer == .awaited else { return }
        transfer.earlyAnswer = .passed
        resumeUpload(transfer)
    }

    /// Lets libcurl ask for the body again.
    func resumeUpload(_ transfer: CurlTransfer) {
        guard let handle = transfer.handle, let upload = transfer.upload, upload.isPaused else { return }
        upload.goOn()
        transfer.machine.bodyIsSent(now: Monotonic.now)
        unpause(transfer, handle, to: transfer.pauseBits(resumingUpload: true))  // may ask immediately, and pause again
    }
}
