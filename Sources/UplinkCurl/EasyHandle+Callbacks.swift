// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkHTTP

extension EasyHandle {
    /// Whom the callbacks find. The transfer outlives its handle: the engine keeps it until the handle is gone.
    func setOwner(_ transfer: CurlTransfer) {
        let box = Unmanaged.passUnretained(transfer).toOpaque()
        set(CURLOPT_WRITEDATA, pointer: box)
        set(CURLOPT_HEADERDATA, pointer: box)
        set(CURLOPT_PREREQDATA, pointer: box)
        // libcurl keeps other callbacks' data with the connection, beyond the transfer; this one it takes from the handle.
        set(CURLOPT_OPENSOCKETDATA, pointer: box)
    }

    func setCallbacks(for generation: Generation) {
        note(
            uplink_easy_set_write(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, box in
                guard let transfer = CurlTransfer.recover(box) else { return 0 }
                return transfer.callbackForBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        note(
            uplink_easy_set_write(curl, CURLOPT_HEADERFUNCTION) { bytes, size, count, box in
                guard let transfer = CurlTransfer.recover(box) else { return 0 }
                return transfer.callbackForHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        note(
            uplink_easy_set_prereq(curl) { box, remote, local, remotePort, localPort in
                CurlTransfer.recover(box)?.callbackForRequest((local, localPort), (remote, remotePort))
                return CInt(CURL_PREREQFUNC_OK)
            })
        note(
            uplink_easy_set_opensocket(curl) { box, _, address in
                guard let transfer = CurlTransfer.recover(box), let address else { return -1 }
                return transfer.openSocket(address)
            })
        // The generation's box, which libcurl keeps with the connection, beyond the transfer.
        set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(generation).toOpaque())
        note(
            uplink_easy_set_closesocket(curl) { box, descriptor in
                Generation.recover(box)?.socketCloses(descriptor)
                return close(descriptor)
            })
    }
}

extension CurlTransfer {
    static func recover(_ box: UnsafeMutableRawPointer?) -> CurlTransfer? {
        box.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate func callbackForBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        active.note(self)
        switch takeBody(bytes, now: Monotonic.now) {
        case .keep: return bytes.count
        case .pause: return Int(uplink_writefunc_pause)
        case .none, .enterGate, .start, .deliverHead, .resume, .end: return bytes.isEmpty ? 1 : 0  // stops libcurl
        }
    }

    /// One line; but trailers that came while the transfer was paused are brought all at once.
    fileprivate func callbackForHeader(_ lines: UnsafeRawBufferPointer) -> Int {
        active.note(self)
        var rest = lines
        while let start = rest.baseAddress, !rest.isEmpty {
            let end = memchr(start, 0x0A, rest.count).map { start.distance(to: UnsafeRawPointer($0)) + 1 } ?? rest.count
            guard takeHeader(UnsafeRawBufferPointer(start: start, count: end)) else {
                return lines.count + 1  // another number stops libcurl
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        return lines.count
    }

    fileprivate func callbackForRequest(
        _ local: (UnsafeMutablePointer<CChar>?, CInt), _ remote: (UnsafeMutablePointer<CChar>?, CInt)
    ) {
        active.note(self)
        requestGoesOut(now: Monotonic.now)
        guard needsAddresses else { return sockets.sinceRequest = 0 }
        connectionStands(
            local: (local.0.map { String(cString: $0) } ?? "", local.1),
            remote: (remote.0.map { String(cString: $0) } ?? "", remote.1), now: Monotonic.now)
    }
}
