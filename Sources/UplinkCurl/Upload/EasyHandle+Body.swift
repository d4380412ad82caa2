// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import HTTPTypes
import UplinkHTTP

extension EasyHandle {
    /// Sets the method and the body, and with them how the body is framed.
    func setBody(of transfer: CurlTransfer) {
        let method = transfer.exchange.request.method
        setHead(method == .head && transfer.upload == nil)
        if transfer.upload != nil || method != .get && method != .head {
            isForOneTransfer = true
            setBody(transfer.upload, method)
        }
        // libcurl repeats a request by itself when a reused connection dies before an answer. A request that must not
        // be done twice therefore gets a new connection.
        setFreshConnection(!transfer.exchange.mayBeRepeated)
    }

    private func setBody(_ upload: Upload?, _ method: HTTPRequest.Method) {
        if let upload {
            set(CURLOPT_UPLOAD, 1)
            // Without a length libcurl sends chunks.
            note(uplink_easy_set_offset(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(upload.length ?? -1)))
            if upload.length ?? .max > 65_536 { set(CURLOPT_UPLOAD_BUFFERSIZE, SlabPool.slabSize) }
            setReading()
        } else if method == .post || method == .put || method == .patch {
            // These methods are expected to carry a body, so even an empty one has to be announced (RFC 9110, section
            // 8.6).
            set(CURLOPT_UPLOAD, 1)
            note(uplink_easy_set_offset(curl, CURLOPT_INFILESIZE_LARGE, 0))
            setReading()
        }
        set(CURLOPT_CUSTOMREQUEST, method.rawValue)
    }

    private func setReading() {
        let box = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_READDATA, pointer: box)
        note(
            uplink_easy_set_read(curl) { memory, size, count, box in
                let memory = UnsafeMutableRawBufferPointer(start: memory, count: size * count)
                return EasyHandle.withTransfer(of: box) { $0.callbackForUpload(memory) } ?? Int(CURL_READFUNC_ABORT)
            })
        set(CURLOPT_SEEKDATA, pointer: box)
        note(
            uplink_easy_set_seek(curl) { box, offset, origin in
                guard offset == 0, origin == SEEK_SET else { return CInt(CURL_SEEKFUNC_FAIL) }
                let isRewound = EasyHandle.withTransfer(of: box) { $0.callbackForRewind() } ?? false
                return CInt(isRewound ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL)
            })
    }
}

extension CurlTransfer {
    fileprivate func callbackForUpload(_ memory: UnsafeMutableRawBufferPointer) -> Int {
        active.note(self)
        guard let upload else { return 0 }
        if isToPauseForEarlyAnswer() {
            upload.pause()
            earlyAnswer = .awaited
            return Int(CURL_READFUNC_PAUSE)
        }
        switch upload.read(into: memory) {
        case .bytes(let count):
            noteSent(now: Monotonic.now)
            return count
        case .wait:
            noteSendingWaits()
            return Int(CURL_READFUNC_PAUSE)
        case .end:
            noteSent(now: Monotonic.now, isEnd: true)
            return 0
        case .failed: return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Whether the server has sent something that libcurl has not read yet. When libcurl has had its chance to read it,
    /// one piece goes out without asking, and then the socket is looked at again.
    ///
    /// An answer before the end of the request is often a refusal, after which the connection is closed. libcurl should
    /// read it before the next attempt to send fails; ``keepUnreadAnswer(from:)`` is for what comes in between.
    private func isToPauseForEarlyAnswer() -> Bool {
        guard machine.phase == .awaitingHead, sockets.upload >= 0, earlyAnswer == .unchecked else {
            earlyAnswer = .unchecked
            return false
        }
        return ConnectionTable.hasUnreadBytes(sockets.upload)
    }

    fileprivate func callbackForRewind() -> Bool {
        active.note(self)
        return rewindUpload()
    }
}
