// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkHTTP

extension EasyHandle {
    func setCallbacks(_ transfer: CurlTransfer) {
        // The transfer outlives its handle: the engine keeps it until the handle is gone.
        let box = Unmanaged.passUnretained(transfer).toOpaque()
        set(CURLOPT_WRITEDATA, pointer: box)
        note(
            uplink_easy_set_write(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, box in
                guard let transfer = CurlTransfer.recover(box) else { return 0 }
                return transfer.callbackForBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        set(CURLOPT_HEADERDATA, pointer: box)
        note(
            uplink_easy_set_write(curl, CURLOPT_HEADERFUNCTION) { bytes, size, count, box in
                guard let transfer = CurlTransfer.recover(box) else { return 0 }
                return transfer.callbackForHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        set(CURLOPT_PREREQDATA, pointer: box)
        note(
            uplink_easy_set_prereq(curl) { box, _, _, _, _ in
                CurlTransfer.recover(box)?.callbackForRequest()
                return CInt(CURL_PREREQFUNC_OK)
            })
    }

    func setSocketCallback(_ engine: UnsafeMutableRawPointer) {
        // Kept with the connection, beyond the transfer: hence the engine, which outlives the multi.
        set(CURLOPT_SOCKOPTDATA, pointer: engine)
        note(
            uplink_easy_set_sockopt(curl) { box, descriptor, _ in
                CurlEngine.recover(box)?.assumeIsolated { $0.socketOpened(descriptor) }
                return CInt(CURL_SOCKOPT_OK)
            })
    }
}

extension CurlTransfer {
    fileprivate static func recover(_ box: UnsafeMutableRawPointer?) -> CurlTransfer? {
        box.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate func callbackForBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        active.note(id)
        switch takeBody(bytes, now: Monotonic.now) {
        case .keep: return bytes.count
        case .pause: return Int(uplink_writefunc_pause)
        case .none, .enterGate, .start, .deliverHead, .resume, .end: return bytes.isEmpty ? 1 : 0  // stops libcurl
        }
    }

    fileprivate func callbackForHeader(_ line: UnsafeRawBufferPointer) -> Int {
        active.note(id)
        return takeHeader(line, now: Monotonic.now) ? line.count : line.count + 1  // another number stops libcurl
    }

    fileprivate func callbackForRequest() {
        active.note(id)
        requestGoesOut(now: Monotonic.now)
    }
}
